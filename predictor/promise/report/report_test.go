package report

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/api"
)

// settled is a reservation of 2 nodes. Its job started at start, the work began at 1000, and
// the job ended at 4600.
func settled(user string, outcome Outcome, start int64) Promise {
	return Promise{
		Prob: .75, Estimate: .8, Deadline: 1000,
		User: user, Account: "physics", Partition: "main",
		Nodes: 2, Outcome: outcome, Work: 7200,
		Start: start, WorkStart: 1000, End: 4600,
	}
}

var approx = cmpopts.EquateApprox(0, 1e-4)

func TestMake(t *testing.T) {
	all := []Promise{
		settled("bob", Kept, 1000),
		settled("alice", Kept, 100),
		settled("alice", Kept, 1000),
		{User: "alice", Outcome: Open},
		{User: "alice", Outcome: Cancelled},
		{Prob: .95, Estimate: .96, User: "alice", Outcome: Missed, Work: 3600},
		// A member of a group has cost nodes, and promised nothing by itself.
		{Prob: .02, User: "bob", Outcome: Missed, Start: 100, WorkStart: 1000, End: 1100, Nodes: 1, Member: true},
	}
	got, err := Make("user", all, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{
		{
			Group: "alice", Promises: 5, Kept: 2, Missed: 1, Cancelled: 1, Open: 1,
			Promised: (.75 + .75 + .95) / 3, Estimated: (.8 + .8 + .96) / 3, Delivered: 2. / 3,
			Low: .0943, High: .9916, // Clopper and Pearson for 2 of 3
			Required: 2 * 2 * 3600, Used: 2 * (4500 + 3600), Ratio: 1.125,
			QoS: 2 * 7200 * .75 / (2*7200 + 3600), Goodput: 2 * 7200. / (2 * (4500 + 3600)),
		},
		{
			Group: "bob", Promises: 1, Kept: 1, Promised: .75, Estimated: .8, Delivered: 1,
			Low: .025, High: 1, Required: 7200 + 100, Used: 7200 + 1000, Ratio: 8200. / 7300,
			QoS: .75, Goodput: 7200. / 8200,
		},
	}
	if diff := cmp.Diff(want, got, approx); diff != "" {
		t.Error(diff)
	}
}

// TestInterval: the promises of one week were all missed. With 5 weeks or more, the interval
// is as wide as such weeks require.
func TestInterval(t *testing.T) {
	const week = 7 * 86400
	for weeks, want := range map[int64]Row{
		4: {Low: .8124, High: .9558}, // Clopper and Pearson's for 72 of 80
		8: {Low: .6, High: 1},        // resamples with the bad week four times, and without it
	} {
		var all []Promise
		for i := range 20 * weeks {
			outcome := Kept
			if i < 2*weeks { // all in the first week
				outcome = Missed
			}
			all = append(all, Promise{Outcome: outcome, Deadline: i / 20 * week})
		}
		got, err := Make("", all, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		want.Promises, want.Kept, want.Missed, want.Delivered = len(all), 18*int(weeks), 2*int(weeks), .9
		if diff := cmp.Diff([]Row{want}, got, approx); diff != "" {
			t.Error(diff)
		}
	}
}

// The row of ornlteragrid at .95 in the paper's Table 3: 94 node-hours used for
// 83 required.
func TestTable3(t *testing.T) {
	r := Promise{
		Outcome: Kept, Nodes: 1,
		Start: 1, WorkStart: 1 + 11*3600, End: 1 + 94*3600,
	}
	got, _ := Make("", []Promise{r}, time.UTC)
	if row := got[0]; row.Required != 83*3600 || row.Used != 94*3600 || math.Round(row.Ratio*100) != 113 {
		t.Errorf("%+v", row)
	}
}

func TestGroups(t *testing.T) {
	r := settled("alice", Kept, 900)
	r.Deadline = 1_772_323_200 - 1 // a second before March 2026, UTC
	berlin := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		by    string
		loc   *time.Location
		group string
	}{
		{"", time.UTC, ""},
		{"user", time.UTC, "alice"},
		{"account", time.UTC, "physics"},
		{"partition", time.UTC, "main"},
		{"month", time.UTC, "2026-02"},
		{"month", berlin, "2026-03"},
	} {
		got, err := Make(c.by, []Promise{r}, c.loc)
		if err != nil || len(got) != 1 || got[0].Group != c.group {
			t.Errorf("by %q: %+v, %v, want group %q", c.by, got, err, c.group)
		}
	}
	for _, by := range api.Groupings {
		if _, err := Make(by, nil, time.UTC); err != nil {
			t.Error(err)
		}
	}
	if _, err := Make("node", nil, time.UTC); err == nil {
		t.Error("grouped by node")
	}
}

func TestNothing(t *testing.T) {
	got, err := Make("", nil, time.UTC)
	if err != nil || len(got) != 1 || got[0] != (Row{Low: 0, High: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Make("user", nil, time.UTC); err != nil || got == nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A cancelled promise is in no share, but its job's node-seconds count.
func TestCancelledWhileHeld(t *testing.T) {
	r := settled("alice", Cancelled, 100)
	r.WorkStart, r.HoldUntil, r.End = 0, 1000, 400
	got, _ := Make("", []Promise{r}, time.UTC)
	want := Row{Promises: 1, Cancelled: 1, Low: 0, High: 1, Required: 0, Used: 2 * 300}
	if diff := cmp.Diff([]Row{want}, got); diff != "" {
		t.Error(diff)
	}
}

// What the nodes idled or worked before Slurm requeued the job counts, and such work is lost, as is
// that of a last run that was evicted.
func TestRunsBefore(t *testing.T) {
	type cost struct{ Required, Used, Lost float64 }
	of := func(p Promise) (c cost) {
		c.Required, c.Used, c.Lost = Charged(&p)
		return c
	}
	r := settled("alice", Kept, 100)
	once := of(r)
	r.HeldBefore, r.WorkedBefore = 50, 70
	if diff := cmp.Diff(cost{once.Required, once.Used + 2*120, 2 * 70}, of(r)); diff != "" {
		t.Error(diff)
	}
	again := r
	again.Evicted = true
	if diff := cmp.Diff(cost{once.Required, once.Used + 2*120, 2*70 + once.Required}, of(again)); diff != "" {
		t.Error(diff)
	}
	r.Start, r.WorkStart, r.End = 0, 0, 0
	if diff := cmp.Diff(cost{0, 2 * 120, 2 * 70}, of(r)); diff != "" {
		t.Errorf("never started again: %s", diff)
	}
}

// Work that began after HoldUntil required no more than its own node-seconds.
func TestMissedCostsItsWork(t *testing.T) {
	r := settled("alice", Missed, 1200)
	r.WorkStart = 1200
	got, _ := Make("", []Promise{r}, time.UTC)
	if row := got[0]; row.Required != 2*3400 || row.Used != 2*3400 || row.Ratio != 1 {
		t.Errorf("%+v", row)
	}
}

// If WorkStart is not known, the work is taken to begin at HoldUntil.
func TestChargedUnknownWorkStart(t *testing.T) {
	r := settled("alice", Kept, 100)
	r.WorkStart, r.HoldUntil = 0, 600
	if required, used, _ := Charged(&r); required != 2*4000 || used != 2*4500 {
		t.Errorf("%v required, %v used", required, used)
	}
}

// Whatever the times in the ledger say, a job is never charged for less than its
// work.
func TestChargedContradictions(t *testing.T) {
	for _, r := range []Promise{
		{Start: 100, WorkStart: 50, End: 200},
		{Start: 100, WorkStart: 300, End: 200},
		{Start: 100, End: 200},
		{Start: 100, End: 50},
		{WorkStart: 100, End: 200},
	} {
		r.Nodes = 1
		if required, used, _ := Charged(&r); required < 0 || used < required {
			t.Errorf("%+v: %v required, %v used", r, required, used)
		}
	}
}

// Of too many groups the smallest share a row, and no promise is left out.
func TestManyGroups(t *testing.T) {
	all := make([]Promise, 0, 2*mostRows+50)
	for i := range 2 * mostRows {
		all = append(all, Promise{Account: fmt.Sprintf("made-up-%05d", i), Outcome: Kept})
	}
	for range 50 {
		all = append(all, Promise{Account: "phys", Outcome: Kept})
	}
	rows, err := Make("account", all, time.UTC)
	if err != nil || len(rows) != mostRows {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	of := map[string]int{}
	sum := 0
	for _, r := range rows {
		of[r.Group] = r.Promises
		sum += r.Promises
	}
	if of["phys"] != 50 || of[Others] != mostRows+2 || sum != len(all) {
		t.Errorf("phys %d, others %d, all %d", of["phys"], of[Others], sum)
	}
}
