package api

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestMistakes: the same mistake has the same words, by fields and by options.
func TestMistakes(t *testing.T) {
	size := func(nodes int32, limit int64) Size {
		return Size{Size: workload.Size{Nodes: nodes}, Limit: limit}
	}
	for name, test := range map[string]struct {
		request           interface{ Check() error }
		byField, byOption string
	}{
		"nothing": {&PlanRequest{}, "begin_by: is missing: say when the work must be running, or with finish_by when it must have ended", "--begin-by is missing: say when the work must be running, or with --finish-by when it must have ended"},
		"times": {
			&PlanRequest{BeginBy: 200, BeginAfter: 201}, "begin_after: 201 is after begin_by, 200", "--begin-after: @201 is after --begin-by, @200",
		},
		"spans": {
			&PlanRequest{BeginBy: 200, Job: workload.Request{Limit: 400 * 86400}},
			"job.limit: 34560000 is not between 0 and 31622400", "--time: 400-00:00:00 is not between 00:00:00 and 366-00:00:00",
		},
		"two at once": {
			&PlanRequest{Risk: .9, BestEffort: true, OnMiss: "cry"},
			`on_miss: "cry" is neither run nor cancel; best_effort: does not go together with risk: the job is submitted at once, and its nodes never idle`,
			"--on-miss: \"cry\" is neither run nor cancel\n--best-effort does not go together with --risk: the job is submitted at once, and its nodes never idle",
		},
		"no deadline": {
			&PlanRequest{Prob: .9, BestEffort: true},
			"prob: needs begin_by or finish_by: the time by which the job is to run or to have ended; best_effort: needs begin_by: the time by which the job is to run",
			"--prob needs --begin-by or --finish-by: the time by which the job is to run or to have ended\n--best-effort needs --begin-by: the time by which the job is to run",
		},
		"work before its time": {
			&ProbeRequest{Sizes: []Size{size(4, 60)}, Slots: 1, Earliest: 100, Latest: 200, BestEffort: true},
			"earliest: does not go together with best_effort: the one holds the work, the other does not",
			"--earliest does not go together with --best-effort: the one holds the work, the other does not",
		},
		"parts of a field": {
			&PlanRequest{BeginBy: 200, MaxCost: MaxCost{Times: .5}}, "max_cost.times: 0.5 is not between 1 and 1000", "--max-cost: 0.5 is not between 1 and 1000",
		},
		"one of a list": {
			&SizeRequest{By: SizeAuto, Sizes: []Size{size(4, 60), size(4, 90)}}, "sizes[1]: there are two of 4 nodes", "--sizes: there are two of 4 nodes",
		},
		"the rest of the job": {
			&PlanRequest{BeginBy: 200, Needs: &workload.Needs{Constraint: "\a"}}, "needs.constraint: it has characters that no option has", "--constraint: it has characters that no option has",
		},
		"other names": {
			&SizeRequest{By: SizeCost, Sizes: []Size{size(4, 60)}, Reconsider: true},
			"reconsider: goes together with by=auto only: what a size costs does not change while the job waits",
			"--lock-in=no goes together with --size=auto only: what a size costs does not change while the job waits",
		},
		"names of parameters": {
			&Selection{Start: 2, End: 1, Accounts: []string{""}}, "end: does not lie after start; account: an empty name", "--endtime does not lie after --starttime\n--accounts: an empty name",
		},
		"tasks of an array": {
			&WhenQuery{ArrayTasks: []ArrayTasks{{22, "3-7,9%2"}, {22, "x"}, {0, "1"}}},
			`array_tasks: "x" is not a list of tasks; array_tasks: 0 is not a job id`, "--jobs: \"x\" is not a list of tasks\n--jobs: 0 is not a job id",
		},
		"the job's account": {
			&PredictRequest{Job: workload.Request{Account: "\n"}}, "job.account: it has characters that no name has", "--account: it has characters that no name has",
		},
	} {
		err := test.request.Check()
		if err == nil || err.Error() != test.byField || !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want %s", name, err, test.byField)
		}
		if got := ByOption(err, func(unix int64) string { return fmt.Sprint("@", unix) }); got == nil || got.Error() != test.byOption {
			t.Errorf("%s: %v, want %s", name, got, test.byOption)
		}
	}
	if err := ByOption((&PlanRequest{BeginBy: 1}).Check(), nil); err != nil {
		t.Error(err)
	}
	if err := (&ProbeRequest{Sizes: []Size{size(4, 60)}, Slots: 1, Earliest: 200, Latest: 200, BestEffort: true}).Check(); err != nil {
		t.Error(err) // the one slot of a member of --any-of
	}
	other := errors.New("another")
	if err := ByOption(other, nil); !errors.Is(err, other) {
		t.Error(err)
	}
}

// No request makes an error without end.
func TestMostMistakes(t *testing.T) {
	err := (&PredictRequest{Quantiles: make([]float64, 1000)}).Check()
	if mistakes, ok := errors.AsType[Mistakes](err); !ok || len(mistakes) != mostMistakes || mistakes[0].Field != "quantiles" || mistakes[0].Rule() != "1000 are more than 64" {
		t.Error(err)
	}
}

func TestIsSiteName(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, "a": true, "_x.y-z": true, "9": true, ".a": false, "-a": false, "A": false, "a b": false, "é": false,
		strings.Repeat("a", 40): true, strings.Repeat("a", 41): false,
	} {
		if IsSiteName(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}
