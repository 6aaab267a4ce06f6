package scores

import (
	"github.com/varq-project/varq/predictor/forecast/flow"

	"database/sql"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is forecast of jobs that wait for others is learnt from once, with its score, and read again
// after a restart.
func TestCourses(t *testing.T) {
	l := openNew(t)
	ctx := t.Context()
	before, err := l.Courses(ctx)
	if err != nil || before[1].At != 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	for i := range int64(200) {
		f := forecastOf(-i-1, 3600*i, Courses)
		f.Class = flow.Class(2)
		mustScore(t, l, Changes{Begun: []Forecast{f}})
		o := started(&f, 1) // far sooner than forecast
		mustScore(t, l, Changes{Started: []Outcome{o, o}})
	}
	learnt, err := l.Courses(ctx)
	if err != nil {
		t.Fatal(err)
	}
	of := learnt.OfClass(flow.Class(2))
	if prob, _ := of.Prob(.5, of.At); of.Burst != 1 || !(prob > .7) {
		t.Errorf("a half has become %v: %+v", prob, learnt)
	}
	if other := learnt.OfClass(flow.Class(1)); other.At != 0 {
		t.Errorf("of another class: %+v", other)
	}
	again, err := New(l.db).Courses(ctx)
	if diff := cmp.Diff(learnt, again); err != nil || diff != "" {
		t.Errorf("after a restart: %v\n%s", err, diff)
	}
	err = l.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE learnt SET outcomes = '[{"precision":[-1,0,0]}]'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(l.db).Courses(ctx); err == nil {
		t.Error("what cannot have been learnt is taken")
	}
	f := forecastOf(-1000, 0, Courses)
	mustScore(t, l, Changes{Begun: []Forecast{f}})
	if _, err := l.Score(ctx, Changes{Started: []Outcome{started(&f, 1)}}, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("what cannot have been learnt is learnt on")
	}
}
