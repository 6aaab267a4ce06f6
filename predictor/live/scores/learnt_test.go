package scores

import (
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
	if err != nil || before.At != 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	for i := range int64(200) {
		f := forecastOf(-i-1, 3600*i, Courses)
		mustScore(t, l, Changes{Begun: []Forecast{f}})
		o := started(&f, 1) // far sooner than forecast
		mustScore(t, l, Changes{Started: []Outcome{o, o}})
	}
	learnt, err := l.Courses(ctx)
	if err != nil {
		t.Fatal(err)
	}
	now := learnt.At
	if prob, _ := learnt.Prob(.5, now); learnt.Burst != 1 || !(prob > .7) {
		t.Errorf("a half has become %v: %+v", prob, learnt)
	}
	again, err := New(l.db).Courses(ctx)
	if diff := cmp.Diff(learnt, again); err != nil || diff != "" {
		t.Errorf("after a restart: %v\n%s", err, diff)
	}
	err = l.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE learnt SET platt = '{"precision":[-1,0,0]}'`)
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
