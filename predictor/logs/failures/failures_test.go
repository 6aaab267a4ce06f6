package failures

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/archive"
)

func TestRead(t *testing.T) {
	got, err := Read("log", strings.NewReader(`down,node,up,remark,cause,system
2026-03-01T04:12:00,n017,2026-03-01T09:30:00,"no, none",memory,alpha
1772323200,n2,,,,beta
,n018,,,,alpha
2026-02-01T00:00:00+01:00,n017,1769900400,,,alpha
`), time.UTC)
	want := []System{
		{Name: "alpha", Nodes: []string{"n017", "n018"}, Failures: []workload.Failure{
			{Node: "n017", Down: 1769900400, Up: 1769900400},
			{Node: "n017", Down: 1772338320, Up: 1772357400, Cause: "memory"},
		}},
		{Name: "beta", Nodes: []string{"n2"}, Failures: []workload.Failure{{Node: "n2", Down: 1772323200}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "log: no header: EOF",
		"node,up\n":                        "line 1: no column down; the header may be node,down,up,cause,system",
		"node,down\n,1772323200\n":         "line 2: field node: empty",
		"node,down\na,yesterday\n":         `line 2: field down: "yesterday" is not a time`,
		"node,down\na,1\n\nb,-5\n":         `line 4: field down: "-5" is not a time`,
		"node,down,up\na,20,10\n":          "line 2: field up: 10 is before down, 20",
		"node,down\n\"a,1\n":               `extraneous or missing " in quoted-field`,
		"node,down\n" + long + ",1\n":      "line 2: field node: longer than 1000 bytes",
		"\x1f\x8bnode,down\n":              "log: ",
		lanl + "2,many,0,1/2/2003 4:05":    `line 2: field nodes: "many" is not a number of nodes`,
		lanl + "2,9999999,0,1/2/2003 4:05": `line 2: field nodes: "9999999" is not a number of nodes`,
		lanl + "2,49,0,2003":               `line 2: field Prob Started: "2003" is not a time`,
		lanl + "2,49,0,":                   "line 2: field Prob Started: empty",

		// The first of several that are too long is told.
		"up,node,down\n" + strings.Repeat(long+",", 3) + "\n": "line 2: field up: longer than 1000 bytes",
	} {
		if _, err := Read("log", strings.NewReader(text), time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), time.UTC); err == nil {
		t.Error("a file that does not exist is read")
	}
}

const lanl = "System,nodes,nodenumz,Prob Started\n"

var long = strings.Repeat("n", maxField+1)

// The log of Los Alamos has the numbers of nodes and failures that its README says.
func TestLosAlamos(t *testing.T) {
	systems, err := Open(archive.LosAlamos(t), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, s := range systems {
		all += len(s.Failures)
		if want, ok := map[string][2]int{"18": {1024, 3997}, "19": {1024, 3284}, "20": {512, 2478}}[s.Name]; ok {
			if got := [2]int{len(s.Nodes), len(s.Failures)}; got != want {
				t.Errorf("system %s: %d nodes and failures, want %d", s.Name, got, want)
			}
		}
	}
	if all != 23_739 {
		t.Errorf("%d failures", all)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("node,down,up,cause,system\nn1,2026-03-01T04:12:00,1772357400,memory,alpha\nn2,,,,\n")
	f.Add(lanl + "2,49,0,1/2/2003 4:05\n")
	f.Fuzz(func(t *testing.T, text string) {
		systems, err := Read("log", strings.NewReader(text), time.UTC)
		if err != nil {
			return
		}
		for _, s := range systems {
			last := int64(0)
			for _, v := range s.Failures {
				if v.Node == "" || v.Down < max(last, 1) || v.Up != 0 && v.Up < v.Down {
					t.Errorf("%q: %+v", text, v)
				}
				last = v.Down
			}
		}
	})
}
