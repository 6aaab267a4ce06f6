package every

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// fakeFlow answers as the file answer says, in the place of varq flow.
const fakeFlow = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "$*" >> asked
n=$(wc -l < asked)
report=$(echo "$VARQ_RESERVE" | sed 's/.*"report":"\([^"]*\)".*/\1/')
tell() { echo "$1" >> "$report"; }
. ./answer
`

// startFlow is start with a series of a flow.
func startFlow(t *testing.T) *fixture {
	f := start(t)
	f.write("varq", fakeFlow)
	t.Setenv("PATH", f.dir+":"+os.Getenv("PATH")) // of scancel
	s := f.want(0)
	s.Program, s.Flow, s.Args = filepath.Join(f.dir, "varq"), true, []string{"nightly.yaml"}
	if err := f.store.save(s); err != nil {
		t.Fatal(err)
	}
	return f
}

// cancelled returns what scancel was given, and forgets it.
func (f *fixture) cancelled() string {
	f.t.Helper()
	path := filepath.Join(f.dir, "cancelled")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// A flow is promised once for each time of the schedule, and followed until it is settled.
func TestFlowIsReservedOnce(t *testing.T) {
	f := startFlow(t)
	f.answers(`tell '{"job":7}'; tell '{"job":8}'; tell '{"flow":"first"}'; echo '{"promised":{"id":"first","jobs":[7,8]}}'`)
	f.wantWell("2026-11-22T06:00")
	f.want(1, "Nov23 PENDING 7")
	if asked, err := os.ReadFile(filepath.Join(f.dir, "asked")); err != nil || string(asked) != "flow --json --finish-by=uts1795413600 --prob=.95 nightly.yaml\n" {
		t.Errorf("%q, %v", asked, err)
	}
	f.varqd.flows = []api.FlowPromise{{ID: "of another", Jobs: []int64{7, 8}, State: api.StateMissed}, {ID: "first", Jobs: []int64{7, 8}, State: api.StateKept}}
	f.answers(`tell '{"job":9}'; tell '{"flow":"second"}'; echo '{"promised":{"id":"second","jobs":[9]}}'`)
	f.wantWell("2026-11-23T06:30")
	s := f.want(2, "Nov23 KEPT 7", "Nov24 PENDING 9")
	f.varqd.flows[0] = api.FlowPromise{ID: "second", Jobs: []int64{9, 10}, State: api.StatePending}
	if jobs, err := f.cancel(t.Context(), s); jobs != 2 || err != nil || f.cancelled() != "--state=PENDING 9 10" {
		t.Error(jobs, err)
	}
}

// A refusal is told once, with its reason, and tried again until its time.
func TestFlowIsRefused(t *testing.T) {
	f := startFlow(t)
	f.answers(`tell '{"job":7}'; echo '{"refusal":{"reason":"the queue is long"}}'; tell '{"cancelled":true}'; exit 1`)
	f.wantNews("2026-11-22T06:00", "2026-11-23T06:00:00: REFUSED: it cannot be promised: the queue is long")
	f.want(1, "Nov23 REFUSED 0")
	f.wantWell("2026-11-22T07:00")
	f.want(2, "Nov23 REFUSED 0")
	if by := f.cancelled(); by != "" {
		t.Error(by)
	}
}

// The jobs of a varq flow that was killed before it had let them go are cancelled, and submitted
// anew. Those that it had let go stay.
func TestFlowIsKilled(t *testing.T) {
	f := startFlow(t)
	f.answers(`tell '{"job":7}'; tell '{"job":8}'; kill -9 $$`)
	f.wantNews("2026-11-22T06:00", "2026-11-23T06:00:00: REFUSED: varq flow: signal: killed")
	f.want(1, "Nov23 SUBMITTING 0")
	f.answers(`tell '{"job":9}'; tell '{"flow":"first"}'; kill -9 $$`)
	f.wantWell("2026-11-22T07:00")
	f.want(2, "Nov23 SUBMITTING 0")
	if by := f.cancelled(); by != "7 8" {
		t.Error(by)
	}
	f.varqd.flows = []api.FlowPromise{{ID: "first", Jobs: []int64{9}, State: api.StatePending}}
	f.wantWell("2026-11-22T08:00")
	f.want(2, "Nov23 PENDING 9")
	if by := f.cancelled(); by != "" {
		t.Error(by)
	}
}
