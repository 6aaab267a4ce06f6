package scores

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/forecast/completion"
	"github.com/varq-project/varq/predictor/forecast/score"
	"github.com/varq-project/varq/predictor/forecast/score/group"
	"github.com/varq-project/varq/predictor/stats"
)

func mustHeld(t *testing.T, l *Store, forecaster string, from, to int64) map[string]group.Tallies {
	t.Helper()
	held, err := l.Held(t.Context(), forecaster, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// Quantiles are counted in each group of a job, when the job has started or ended, and of its
// forecaster alone.
func TestHeld(t *testing.T) {
	l := openNew(t)
	alice, short := group.Group{By: group.User, Value: "alice"}, group.Group{By: "limit", Value: "limit<=60"}
	for i, wait := range []int64{60, 1e6} {
		first, second := forecastOf(int64(2*i), 0, "blend"), forecastOf(int64(2*i+1), 7*86400, completion.Name)
		first.Groups, second.Groups = []group.Group{alice, short}, []group.Group{alice}
		mustScore(t, l, Changes{Begun: []Forecast{first, second, forecastOf(int64(100+i), 0, "qbets")}})
		mustScore(t, l, Changes{Started: []Outcome{started(&first, wait)}, Ended: []Outcome{started(&second, 60)}})
	}
	all := mustHeld(t, l, "", 0, 0)
	// one more by width
	if len(all) != 2 || len(all["blend"]) != 3 || len(all[completion.Name]) != 2 {
		t.Fatalf("%+v", all)
	}
	for _, g := range []group.Group{alice, short} {
		tally := all["blend"][g]
		if tally == nil || tally.Jobs != 2 || tally.Held[len(score.Levels)-1].Sum() != (stats.Count{N: 1, Of: 2}) {
			t.Errorf("%v: %+v", g, tally)
		}
	}
	if got := all[completion.Name][alice].Held[len(score.Levels)-1].Sum(); got != (stats.Count{N: 2, Of: 2}) {
		t.Errorf("ends: %+v", got)
	}
	for _, c := range []struct {
		forecaster string
		from, to   int64
		want       int
	}{{"", 20_001, 0, 1}, {"", 0, 20_001, 1}, {"blend", 0, 0, 1}, {"nobody", 0, 0, 0}} {
		if got := mustHeld(t, l, c.forecaster, c.from, c.to); len(got) != c.want {
			t.Errorf("%+v: %d forecasters", c, len(got))
		}
	}
}

// Of groups there are only so many in a day, of which those already there still count, and none is
// kept for ever.
func TestGroupsAreBounded(t *testing.T) {
	l := openNew(t)
	var c Changes
	for i := range int64(mostGroups + 10) {
		f := forecastOf(i, 0, "blend")
		f.Groups = []group.Group{{By: group.User, Value: fmt.Sprintf("%04d", i)}, {By: "all"}}
		c.Begun, c.Started = append(c.Begun, f), append(c.Started, started(&f, 60))
	}
	mustScore(t, l, c)
	held := mustHeld(t, l, "", 0, 0)["blend"]
	if len(held) != mostGroups || held[group.Group{By: "all"}].Jobs != mostGroups+10 {
		t.Errorf("%d groups, of all: %+v", len(held), held[group.Group{By: "all"}])
	}
	mustScore(t, l, Changes{Begun: []Forecast{forecastOf(0, (GroupDays+1)*86400, "blend")}})
	if diff := cmp.Diff(map[string]group.Tallies{}, mustHeld(t, l, "", 0, 0)); diff != "" {
		t.Error(diff)
	}
}
