package walltime

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/sched"
)

// random returns jobs of a few users whose run times have much, little or nothing
// to do with what they ask for.
func random(n int) []sched.Job {
	r := rand.New(rand.NewPCG(1, 9))
	jobs := make([]sched.Job, n)
	for i := range jobs {
		j := sched.Job{
			ID: int64(i), User: r.Int32N(6) - 1, Group: r.Int32N(3) - 1, App: r.Int32N(4) - 1, Queue: r.Int32N(3) - 1,
			Procs: 1 << r.IntN(7), Limit: 600 * (1 + r.Int64N(5)),
		}
		j.End = int64(float64(j.Limit) * math.Pow(r.Float64(), float64(j.User+1)))
		jobs[i] = j
	}
	return jobs
}

// slow predicts j from all jobs before it, without categories, rings and sums.
func slow(before []sched.Job, j *sched.Job) (seconds float64, ok bool) {
	weight, sum := 0., 0.
	for i := range templates {
		t := &templates[i]
		k, known := t.key(j)
		if !known {
			continue
		}
		var x, y []float64
		for b := len(before) - 1; b >= 0 && len(y) < memory; b-- {
			if other, known := t.key(&before[b]); !known || other != k {
				continue
			}
			run := math.Log(math.Max(1, float64(before[b].End)))
			if t.by == share {
				run += math.Log(float64(j.Limit)) - math.Log(float64(before[b].Limit))
			}
			x, y = append(x, math.Log(float64(before[b].Procs))), append(y, run)
		}
		n := float64(len(y))
		meanX, meanY, xx, xy := average(x), average(y), 0., 0.
		for i := range x {
			xx += (x[i] - meanX) * (x[i] - meanX)
			xy += (x[i] - meanX) * (y[i] - meanY)
		}
		slope, freedom, lever := 0., n-1, 1+1/n
		if t.by == line {
			if xx < 1e-9 {
				continue
			}
			at := math.Log(float64(j.Procs)) - meanX
			slope, freedom, lever = xy/xx, n-2, 1+1/n+at*at/xx
		}
		if freedom < 1 {
			continue
		}
		left := 1.
		for i := range x {
			off := y[i] - meanY - slope*(x[i]-meanX)
			left += off * off
		}
		says := meanY + slope*(math.Log(float64(j.Procs))-meanX)
		w := math.Pow(left/freedom*lever, -2)
		weight += w
		sum += w * math.Max(0, math.Min(says, math.Log(float64(j.Limit))))
	}
	return math.Exp(sum / weight), weight > 0
}

func average(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func TestPredictAgainstSlow(t *testing.T) {
	jobs := random(1500)
	var p Predictor
	answered := 0
	for i := range jobs {
		got, ok := p.Predict(&jobs[i])
		want, wantOK := slow(jobs[:i], &jobs[i])
		if ok != wantOK || ok && math.Abs(got.Seconds-want) > 1e-6*want {
			t.Fatalf("job %d: %+v %v, want %v %v", i, got, ok, want, wantOK)
		}
		if ok {
			answered++
			if got.Seconds < 1 || got.Seconds > float64(jobs[i].Limit)*(1+1e-9) || !(got.Spread > 0) || got.Jobs < 2 || got.Template == "" {
				t.Fatalf("job %d: %+v", i, got)
			}
		}
		if seconds, _ := p.Estimate(&jobs[i]); ok && (seconds < 1 || seconds > jobs[i].Limit) {
			t.Fatalf("job %d: estimate %d", i, seconds)
		}
		p.Learn(&jobs[i])
	}
	if answered < 1400 {
		t.Errorf("%d answers", answered)
	}
}

// A user who always runs the same for the same time is believed before those who
// do not.
func TestSurestSpeaks(t *testing.T) {
	var p Predictor
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		p.Learn(&sched.Job{User: 1, App: -1, Group: -1, Queue: -1, Procs: 4, Limit: 3600, End: 1 + r.Int64N(3600)})
		p.Learn(&sched.Job{User: 2, App: -1, Group: -1, Queue: -1, Procs: 4, Limit: 3600, End: 1000})
	}
	got, ok := p.Predict(&sched.Job{User: 2, App: -1, Group: -1, Queue: -1, Procs: 4, Limit: 3600})
	if !ok || math.Abs(got.Seconds-1000) > 150 || got.Template != "user, size and limit" {
		t.Errorf("%+v", got)
	}
}

func TestStoreForgets(t *testing.T) {
	var s store
	for i := range int32(most + 10) {
		s.obtain(key{user: i}).n = int(i)
		s.obtain(key{user: 3})
	}
	if len(s.of) != most || s.recent.Len() != most {
		t.Errorf("%d categories, %d in the list", len(s.of), s.recent.Len())
	}
	if s.get(key{user: 1}) != nil || s.get(key{user: 3}) == nil || s.get(key{user: most + 9}).n != most+9 {
		t.Error("the wrong one is forgotten")
	}
}

func TestLastTwo(t *testing.T) {
	var l LastTwo
	j := &sched.Job{User: 7, Limit: 500}
	for _, step := range []struct{ run, want int64 }{{100, 500}, {300, 100}, {1000, 200}, {0, 500}, {0, 500}, {0, 1}} {
		if got, ok := l.Estimate(j); !ok || got != step.want {
			t.Errorf("before a run of %d: %d, want %d", step.run, got, step.want)
		}
		l.Learn(&sched.Job{User: 7, End: step.run})
	}
}

func TestScore(t *testing.T) {
	var s Score
	s.Add(100, 50)
	s.Add(0, 150)
	if s.Jobs() != 2 || s.Error() != 100 || s.RelativeError() != 1 || math.Abs(s.Accuracy()-(.5+1./150)/2) > 1e-12 {
		t.Errorf("%v %v %v", s.Error(), s.RelativeError(), s.Accuracy())
	}
}

func BenchmarkPredictAndLearn(b *testing.B) {
	jobs := random(10_000)
	var p Predictor
	for i := range jobs {
		p.Learn(&jobs[i])
	}
	i := 0
	for b.Loop() {
		j := &jobs[i%len(jobs)]
		p.Predict(j)
		p.Learn(j)
		i++
	}
}
