package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// groupKills: whoever is killed, whenever that is, the work of one job of --any-of begins, and that
// of all jobs of --all-of or of none. It takes the flags of TestReserveKills.
func groupKills(t *testing.T, sites map[string]*site.Site) {
	thorough.Only(t)
	killWhileReserving(t, sites["alpha"], sites["beta"], (*kills+1)/2, api.GroupAny, api.GroupAll)
}

// judgeGroup compares a group of which the client has said that it is reserved with the jobs whose
// work has begun.
func judgeGroup(t *testing.T, sites []*site.Site, r *killRound, got started, counts map[string]int, forgotten func(site string, from, to time.Time) bool) {
	t.Helper()
	switch {
	case len(got) > 0:
	case slices.ContainsFunc(r.group.Members, func(c broker.Choice) bool {
		return forgotten(c.Site, r.began, r.ended) || forgottenStart(t, sites, &c, forgotten)
	}):
		counts["of groups, forgotten by a slurmctld that was killed"]++
	case r.kind == api.GroupAll: // a job that was late has ended the others
		counts["given up together"]++
	default:
		t.Errorf("%v: none has started of %+v", r, r.group.Members)
	}
}

// heard is for how long before its time the work can be told when it begins.
const heard = 10 * time.Second

// judgeTogether tells whether the work of the jobs has begun together. If one of them was not told
// in time when that is, it begins as soon as it is told.
func judgeTogether(t *testing.T, r *killRound, got started, counts map[string]int, forgotten func(site string, from, to time.Time) bool, unheard func(from, to time.Time) bool) {
	t.Helper()
	var at []float64
	for _, times := range got {
		at = append(at, times[0])
	}
	first, last := time.UnixMicro(int64(slices.Min(at)*1e6)), time.UnixMicro(int64(slices.Max(at)*1e6))
	switch {
	case len(got) == 2 && last.Sub(first) <= 2*time.Second:
		counts["began together"]++
	case len(got) == 2 && unheard(first.Add(-heard), last):
		counts["one was told late, as a varqd was down"]++
		t.Logf("%v: %v", r, got)
	case forgotten("alpha", first.Add(-time.Minute), last), forgotten("beta", first.Add(-time.Minute), last):
		counts["not together, as a slurmctld that was killed had forgotten"]++
		t.Logf("%v: %v", r, got)
	default:
		t.Errorf("%v: not together: %v", r, got)
	}
}
