package flow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tooLong returns a Learnt by which jobs of some classes start sooner than they were drawn, and
// others as they were drawn.
func tooLong(waits ...int) *Learnt {
	l := NewLearnt()
	for i := range int64(2000) {
		for _, n := range waits {
			l.LearnRank(n, math.Pow(float64(i%10)/9, 1.5), epoch-3600*(2000-i))
		}
	}
	return l
}

func TestClass(t *testing.T) {
	for waits, want := range map[int]string{0: "1 wait", 1: "1 wait", 2: "2 waits", 3: "3 or 4 waits", 4: "3 or 4 waits", 5: "5 to 8 waits", 8: "5 to 8 waits", 9: "more waits", 1000: "more waits"} {
		if got := Class(waits); got != want {
			t.Errorf("%d waits: %s", waits, got)
		}
		if l := NewLearnt(); l.OfClass(want) != &l[classOf(waits)] {
			t.Errorf("%d waits: what is learnt of %s is that of others", waits, want)
		}
	}
	if got := NewLearnt().OfClass(""); got != nil {
		t.Errorf("learnt of no class: %v", got)
	}
}

// Each start is the quantile that came true as often as the one that was drawn; of other classes,
// of jobs that wait for none, and of those that are to be told as they are drawn nothing changes.
func TestCorrect(t *testing.T) {
	wait := lognormal(3600, 1)
	first := Job{Earliest: epoch, Wait: wait, Run: lasting(60), Success: 1}
	next := func(on int) Job {
		j := first
		j.Conditions = []Condition{{Event: Ended, Job: on}}
		return j
	}
	asDrawn := next(0)
	asDrawn.AsDrawn = true
	f := New(AlikeWaits, tooLong(2), epoch)
	for i, j := range []Job{first, next(0), next(1), asDrawn} {
		j.ID = int64(i)
		f.Add(j)
	}
	drawn := f.Drawn()
	for _, same := range []int{0, 3} {
		if diff := cmp.Diff(drawn.Courses(same).Start, f.Courses(same).Start); diff != "" {
			t.Errorf("job %d: %s", same, diff)
		}
	}
	w, ok := f.Wait(1)
	for _, seconds := range []float64{3600, 7200, 14400} {
		want, _ := f.learnt[1].Prob(w.Drawn.Within(seconds), epoch)
		got, was := w.Told.Within(seconds), w.Drawn.Within(seconds)
		// it is no sooner than the end of the first
		if !ok || w.Waits != 2 || got < was+(want-was)/2 || got > want+.01 {
			t.Errorf("within %v s: %v, want %v, drawn %v", seconds, got, want, was)
		}
	}
	was, is := TimesOf(drawn.Courses(2).Start), TimesOf(f.Courses(2).Start)
	if is.Quantile(.9) < was.Quantile(.9)-600 || f.Waits(2) != 3 {
		t.Errorf("a job of another class starts by %d s, and by %d s as drawn", is.Quantile(.9)-epoch, was.Quantile(.9)-epoch)
	}
}

// Whatever has been learnt, no quantile of a start is before that of when the job becomes eligible,
// and none of an end before that of the start, and what happens in a course does so as corrected.
func TestCorrectedOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 20 {
		l := NewLearnt()
		for range 200 {
			l.LearnRank(1+random.IntN(12), math.Pow(random.Float64(), 3), epoch-3600*random.Int64N(1000))
		}
		jobs := graph(random)
		f := New(AlikeWaits, l, epoch)
		for i, j := range jobs {
			j.ID = int64(i)
			f.Add(j)
		}
		for i := range jobs {
			told, drawn := f.Courses(i), f.Drawn().Courses(i)
			eligible, starts, ends := TimesOf(told.Eligible), TimesOf(told.Start), TimesOf(told.End)
			for k := range Draws {
				if starts.at[k] < eligible.at[k] || ends.at[k] < starts.at[k] {
					t.Fatalf("graph %d, job %d: %d-th quantiles %d, %d, %d", n, i, k, eligible.at[k], starts.at[k], ends.at[k])
				}
			}
			for d := range Draws {
				if want, _ := jobs[i].eligible(f.courses, d, nil); told.Eligible[d] != want {
					t.Fatalf("graph %d, job %d: eligible at %d, want %d", n, i, told.Eligible[d], want)
				}
				if (told.Start[d] == Never) != (drawn.Start[d] == Never) || (told.End[d] == Never) != (drawn.End[d] == Never) {
					t.Fatalf("graph %d, job %d: %d to %d, drawn %d to %d", n, i, told.Start[d], told.End[d], drawn.Start[d], drawn.End[d])
				}
			}
		}
		if len(jobs) > 0 && !slices.Equal(f.Drawn().Last([]int{0}), f.Last([]int{0})) {
			t.Errorf("graph %d: a job that waits for none was corrected", n)
		}
	}
}

func TestLearntCheck(t *testing.T) {
	l := tooLong(1, 5)
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	l[3].Precision[0] = -1
	if l.Check() == nil {
		t.Error("what no outcome leads to is taken")
	}
}
