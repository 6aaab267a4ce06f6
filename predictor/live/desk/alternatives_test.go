package desk

import (
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// in returns a request for an hour in some partitions.
func in(partitions string, beginBy int64) *api.PlanRequest {
	r := desktest.Request(beginBy)
	r.Job.Partition = partitions
	return r
}

// A job that may run in several partitions is promised in one in which it can be, and the refusal
// of one in which it cannot names each.
func TestPartitions(t *testing.T) {
	s := newSite(t)
	s.Slurm.Short = 1800 // too short for the job
	s.Refresh()
	for _, promise := range []bool{false, true} {
		a, err := s.desk.Plan(t.Context(), "alice", in("short,main,short", desktest.Epoch+7200), promise)
		if err != nil || a.Plan == nil || (a.Plan.ID != "") != promise {
			t.Fatalf("%+v, %v", a.Refusal, err)
		}
	}
	list, err := s.Ledger.Select(t.Context(), ledger.Query{})
	if err != nil || len(list) != 1 || list[0].Partition != "main" {
		t.Errorf("%+v, %v", list, err)
	}
	a, err := s.desk.Plan(t.Context(), "alice", in("short,main", desktest.Epoch+60), true)
	if err != nil || a.Refusal == nil || len(a.Refusal.Offers) == 0 ||
		!strings.HasPrefix(a.Refusal.Reason, "none of the partitions will do: short: ") || !strings.Contains(a.Refusal.Reason, "; main: ") {
		t.Errorf("%+v, %v", a.Refusal, err)
	}
	if _, err := s.desk.Plan(t.Context(), "alice", in("main,nosuch", desktest.Epoch+7200), true); err == nil || !strings.Contains(err.Error(), `no partition "nosuch" (there are `) {
		t.Errorf("a partition that does not exist: %v", err)
	}
	soon := s.Outlook.Delay
	s.Outlook.Delay = 1e6 // nothing can be offered
	a, err = s.desk.Plan(t.Context(), "alice", in("short,main", desktest.Epoch+60), true)
	if err != nil || a.Refusal == nil || len(a.Refusal.Offers) > 0 || !strings.HasSuffix(a.Refusal.Reason, "try a lower --prob, a much later deadline or a smaller job, ask again later, or do without a promise") {
		t.Errorf("without offers: %+v, %v", a.Refusal, err)
	}
	s.Outlook.Delay = soon
	s.Slurm.EachPartition = true
	s.Refresh()
	a, err = s.desk.Plan(t.Context(), "alice", in("short,main", desktest.Epoch+7200), true)
	if err != nil || a.Refusal == nil || !strings.Contains(a.Refusal.Reason, "main: --time=01:00:00: partition short allows 00:30:00 (MaxTime)") {
		t.Errorf("where the limits of each count: %+v, %v", a.Refusal, err)
	}
	p, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{Job: in("short,main", 0).Job})
	if err != nil || p.Job.Partition != "main" {
		t.Errorf("%+v, %v", p, err)
	}
}

// A promised job that waits in several partitions is planned again in the one that it was promised
// in, however Slurm sorts them.
func TestPlannedPartition(t *testing.T) {
	e := &ledger.Entry{Reservation: api.Reservation{Partition: "main", NodeSet: "a"}}
	for is, want := range map[string]workload.Place{
		"main":       {Partition: "main", NodeSet: "q"}, // as the queue has it
		"short,main": {Partition: "main", NodeSet: "a"},
		"main,short": {Partition: "main", NodeSet: "a"},
		"short,long": {Partition: "short,long", NodeSet: "q"},
		"short":      {Partition: "short", NodeSet: "q"},
	} {
		j := &slurm.QueueEntry{Job: workload.Job{Request: workload.Request{Partition: is, NodeSet: "q"}}}
		if got, others := planned(e, j); got != want || (len(others) == 1) != (is != want.Partition) {
			t.Errorf("%s: planned in %+v, not in %v", is, got, others)
		}
	}
}

// Of several accounts and QOS the job gets one, which the answer names.
func TestAccounts(t *testing.T) {
	s := newSite(t)
	r := in("main", desktest.Epoch+7200)
	r.Job.Account = "chem,phys,chem"
	a, err := s.desk.Plan(t.Context(), "alice", r, true)
	if err != nil || a.Plan == nil || a.Account != "chem" || a.QOS != "" {
		t.Fatalf("%+v, %v", a, err)
	}
	if list, err := s.Ledger.Select(t.Context(), ledger.Query{}); err != nil || len(list) != 1 || list[0].Account != "chem" {
		t.Errorf("%+v, %v", list, err)
	}
	r.Job.QOS = "nosuch,norsuch"
	a, err = s.desk.Plan(t.Context(), "alice", r, false)
	if err != nil || a.Refusal == nil || !strings.HasPrefix(a.Refusal.Reason, `none of the accounts and QOS will do: account chem, QOS nosuch: unknown QOS "nosuch"; account chem, QOS norsuch: `) {
		t.Errorf("%+v, %v", a.Refusal, err)
	}
	r.Job.QOS = ","
	if _, err := s.desk.Plan(t.Context(), "alice", r, false); err == nil || !strings.Contains(err.Error(), `"," names no QOS`) {
		t.Errorf("%v", err)
	}
	r.Job.QOS = "nosuch,norsuch"
	r.Job.Account = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"
	if _, err := s.desk.Plan(t.Context(), "alice", r, false); err == nil || !strings.Contains(err.Error(), "34 ways to submit the job are more than 32") {
		t.Errorf("%v", err)
	}
	p, err := s.desk.Predict(t.Context(), "alice", &api.PredictRequest{Job: workload.Request{Size: workload.Size{Nodes: 1}, Account: "chem,phys", Limit: 60}})
	if err != nil || p.Job.Account != "chem" {
		t.Errorf("%+v, %v", p, err)
	}
}
