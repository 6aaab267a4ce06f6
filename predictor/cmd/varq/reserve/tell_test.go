package reserve

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// mainSlot is a slot in partition main.
var mainSlot = api.Slot{Partition: "main", Start: 1795276800, End: 1795280400, Nodes: 2, Limit: 3600, Prob: .9, Estimate: .97, Cost: 4}

// The name of the only cluster is told only if somebody has named it.
func TestOnlyCluster(t *testing.T) {
	t.Parallel()
	c := broker.Choice{Site: "alpha", Slot: mainSlot}
	told := teller{Env: &cli.Env{Zone: time.UTC}, here: "alpha", answers: []broker.Answer{{Site: "alpha", ProbeAnswer: api.ProbeAnswer{Unit: "EUR"}}}}
	if got := told.slot(&c); !strings.HasPrefix(got, "partition main; ") {
		t.Errorf("told of the only cluster: %s", got)
	}
	if told.here = ""; !strings.HasPrefix(told.slot(&c), "alpha, partition main; ") {
		t.Errorf("told of one of several: %s", told.slot(&c))
	}
}

// Of a group that is reserved it is said, too, which site could not be asked.
func TestGroupWithoutASite(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	group := broker.GroupOutcome{Group: "aaaaaaaaaaaa", Kind: api.GroupAny, Quote: &api.GroupQuote{Prob: .97, Required: .9}, Members: []broker.Choice{{Site: "alpha", Slot: mainSlot, Job: 7}}}
	answers := []broker.Answer{{Site: "alpha"}, {Site: "beta", Error: "you may not ask"}}
	told := teller{Env: &cli.Env{Stdout: &out, Stderr: &errs, Zone: time.UTC}, answers: answers}
	if err := told.group(&group, false); err != nil || errs.String() != "varq: cluster beta: you may not ask\n" || !strings.Contains(out.String(), "job 7: alpha") {
		t.Errorf("%v: %s%s", err, &out, &errs)
	}
}
