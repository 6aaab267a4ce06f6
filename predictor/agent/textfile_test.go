package agent

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

func TestMetric(t *testing.T) {
	for line, want := range map[string]metric{
		`x_xid 79`:                           {name: "x_xid", value: 79},
		` x_xid{} 79 1700000000000`:          {name: "x_xid", value: 79},
		`x{uuid="u",GPU="3",device="d"} 1e3`: {name: "x", gpu: "3", value: 1000},
		`x{device="d" , uuid="a\"b",} 0`:     {name: "x", gpu: "d"},
		`x{uuid="a\\b"}0`:                    {name: "x", gpu: `a\b`},
	} {
		if got, ok := parseMetric(line); !ok || got != want {
			t.Errorf("%s: %+v, %v", line, got, ok)
		}
	}
	for _, line := range []string{"", "#", "x", "x ", "{} 1", "x{", "x{a} 1", `x{a="} 1`, `x{a=1} 1`, `x{a="1" 1`, "x NaN", "x -1", "x +Inf", "x 1 2 3", "x one", "x 1e300"} {
		if got, ok := parseMetric(line); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

// TestMetricsAreBounded: of a text without end, of many GPUs or of endless lines, little is kept.
func TestMetricsAreBounded(t *testing.T) {
	var many strings.Builder
	for i := range 10 * mostGPUs {
		fmt.Fprintf(&many, "# TYPE xid_%d counter\nxid{gpu=\"%d\"} 1\n", i, i)
	}
	if gpus := parseMetrics(strings.NewReader(many.String())); len(gpus) != mostGPUs {
		t.Errorf("%d GPUs", len(gpus))
	}
	if gpus := parseMetrics(strings.NewReader("xid 1\n" + strings.Repeat("x", 10*longestLine) + "\nxid{gpu=\"1\"} 1\n")); len(gpus) != 1 {
		t.Errorf("%d GPUs, one of which stands after a line without end", len(gpus))
	}
	root := tree(t, map[string]string{"m/a.prom": "# " + strings.Repeat("x\n# ", mostBytes/4) + "\nxid 1\n", "m/b.prom": "xid 1\n"})
	if err := syscall.Mkfifo(root+"/m/pipe.prom", 0o644); err != nil {
		t.Fatal(err)
	}
	var s signals
	readFolder(&s, root+"/m")
	if len(s) != 1 || s[0] != (api.Signal{Name: api.SignalGPUXID, Value: 1}) {
		t.Errorf("%v", s)
	}
}

// A label that varqd would refuse, and which could do harm on a terminal, costs the node none of
// its other signals.
func TestOddLabel(t *testing.T) {
	root := tree(t, map[string]string{"m/a.prom": "xid{gpu=\"\x1b[31mx\"} 1\nxid{gpu=\"2\"} 3\n"})
	var s signals
	readFolder(&s, root+"/m")
	if len(s) != 1 || s[0].Value != 3 {
		t.Errorf("%+v", s)
	}
}

func FuzzMetrics(f *testing.F) {
	f.Add(node["metrics/dcgm.prom"])
	f.Add(node["metrics/site.prom"])
	f.Add("xid{gpu=\"\\u263a\"} 0x1p4 \n# TYPE xid counter")
	f.Fuzz(func(t *testing.T, text string) {
		gpus := parseMetrics(strings.NewReader(text))
		if len(gpus) > mostGPUs {
			t.Errorf("%d GPUs", len(gpus))
		}
		var s signals
		for of, g := range gpus {
			for name, value := range g {
				s.add(name, of, value)
				if !(value >= 0 && value <= 1<<60) {
					t.Errorf("%s of %s is %v", name, of, value)
				}
			}
		}
		if n := len(s.bounded()); n > api.MaxSignals {
			t.Errorf("%d signals", n)
		}
	})
}
