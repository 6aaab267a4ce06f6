package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/varq-project/varq/test/site"
)

// sizeFromPast: varq size forecasts the wait of each size, and learns from a user's own past runs,
// and from nobody else's, how long each takes.
func sizeFromPast(t *testing.T, s *site.Site) {
	submit := func(user string, nodes, seconds int) int64 {
		id, _, err := s.Submit(t.Context(), user, "--begin=now", "--job-name=scaling", "--nodes="+strconv.Itoa(nodes), "--time=5",
			"--output=/dev/null", fmt.Sprintf("--wrap=sleep %d", seconds))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	var ids []int64
	for _, nodes := range []int{1, 1, 1, 2, 2} {
		ids = append(ids, submit("alice", nodes, 24/nodes))
	}
	ids = append(ids, submit("bob", 2, 1))
	for _, id := range ids {
		if err := s.WaitState(t.Context(), id, "COMPLETED"); err != nil {
			t.Fatal(err)
		}
	}
	type answer struct {
		Best  int32
		Sizes []struct {
			Nodes int32
			Run   float64
			Wait  *float64
		}
		Refused []struct{ Nodes int32 }
	}
	var fitted answer
	eventually(t, "accounting has the runs", func() bool {
		run, err := s.Run(t.Context(), "alice", "varq", "size", "--fit=scaling", "--json")
		if err != nil {
			t.Fatal(err)
		}
		return run.Code == 0 && json.Unmarshal([]byte(run.Stdout), &fitted) == nil
	})
	for _, size := range fitted.Sizes {
		if want := 24 / float64(size.Nodes); size.Nodes <= 2 && (size.Run < want-1 || size.Run > 2*want+5) {
			t.Errorf("%v s on %d nodes, want about %v", size.Run, size.Nodes, want)
		}
		if size.Wait == nil {
			t.Errorf("the wait for %d nodes is not known", size.Nodes)
		}
	}
	if len(fitted.Sizes) != 3 || fitted.Best == 0 { // 1, 2 and 4
		t.Errorf("%+v", fitted)
	}
	if run, err := s.Run(t.Context(), "bob", "varq", "size", "--fit=scaling"); err != nil || run.Code == 0 || !strings.Contains(run.Stderr, "too little to go by: 1 run;") {
		t.Errorf("bob has run once: %v %d %q", err, run.Code, run.Stderr)
	}

	var stated answer
	run := mustRun(t, s, "alice", "varq", "size", "--sizes=1:4,2:2,64:1", "--json")
	if err := json.Unmarshal([]byte(run.Stdout), &stated); err != nil || len(stated.Sizes) != 2 || len(stated.Refused) != 1 || stated.Refused[0].Nodes != 64 {
		t.Errorf("%v: %s", err, run.Stdout)
	}
	text := mustRun(t, s, "alice", "varq", "size", "--sizes=1:4,2:2").Stdout
	_, command, found := strings.Cut(text, "  sbatch ")
	if !found {
		t.Fatalf("nothing to paste in:\n%s", text)
	}
	line, _, _ := strings.Cut(command, " job.sh")
	id, _, err := s.Submit(t.Context(), "alice", append(strings.Fields(line), "--output=/dev/null", "--wrap=true")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WaitState(t.Context(), id, "COMPLETED"); err != nil {
		t.Error(err)
	}
}
