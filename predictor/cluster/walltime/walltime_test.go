package walltime

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

// random returns jobs of a few users, one after the other, whose run times depend much, little
// or not at all on their limits.
func random(users int32, n int) []sched.Job {
	r := rand.New(rand.NewPCG(1, 9))
	jobs := make([]sched.Job, n)
	for i := range jobs {
		j := sched.Job{
			ID: int64(i), User: r.Int32N(users) - 1, Group: r.Int32N(3) - 1, App: r.Int32N(4) - 1, Queue: r.Int32N(3) - 1,
			Procs: 1 << r.IntN(7), Limit: 600 * (1 + r.Int64N(5)),
		}
		j.Submit = int64(i) * 3600
		j.Start = j.Submit
		j.End = j.Start + int64(float64(j.Limit)*math.Pow(r.Float64(), float64(j.User%6+1)))
		jobs[i] = j
	}
	return jobs
}

// slow predicts from a list of all jobs that have ended, and recomputes everything
// but the records.
type slow struct {
	jobs    []sched.Job
	records [len(templates)][]float64
}

func (t template) alike(a, b *sched.Job) bool {
	for _, of := range []struct {
		trait traits
		a, b  int64
	}{
		{user, int64(a.User), int64(b.User)}, {group, int64(a.Group), int64(b.Group)}, {app, int64(a.App), int64(b.App)},
		{queue, int64(a.Queue), int64(b.Queue)}, {limit, a.Limit, b.Limit},
		{procs, int64(bits.Len32(uint32(a.Procs))), int64(bits.Len32(uint32(b.Procs)))},
	} {
		if t.traits&of.trait != 0 && (of.a < 0 || of.a != of.b) {
			return false
		}
	}
	return true
}

// similar returns the processors and the run times, both as logarithms, of the newest remembered
// jobs that are like j and would have run for longer than age at j's limit. The newest come
// first.
func (s *slow) similar(t template, j *sched.Job, age int64) (x, y []float64) {
	seen := 0
	for i := len(s.jobs) - 1; i >= 0 && seen < memory; i-- {
		other := &s.jobs[i]
		if !t.alike(j, other) {
			continue
		}
		seen++
		run := math.Max(1, float64(other.End-other.Start))
		if t.by == share {
			run *= float64(j.Limit) / float64(other.Limit)
		}
		if age == 0 || run > float64(age)+1e-3 {
			x, y = append(x, math.Log(float64(other.Procs))), append(y, math.Log(run))
		}
	}
	return x, y
}

// predict returns the prediction of a template, as logarithms; n is 0 if it has none.
func (s *slow) predict(t int, j *sched.Job, age int64) (run, lever, half float64, n int) {
	x, y := s.similar(templates[t], j, age)
	x, y = x[:min(len(x), recent)], y[:min(len(y), recent)]
	n = len(y)
	freedom, slope, at := float64(n-1), 0., 0.
	lever = 1 + 1/float64(n)
	if templates[t].by == line {
		xx, xy := 0., 0.
		for i := range x {
			xx += (x[i] - average(x)) * (x[i] - average(x))
			xy += (x[i] - average(x)) * (y[i] - average(y))
		}
		if n < 3 || xx < 1e-9 {
			return 0, 0, 0, 0
		}
		at = math.Log(float64(j.Procs)) - average(x)
		freedom, slope, lever = freedom-1, xy/xx, lever+at*at/xx
	}
	left := 0.
	for i := range x {
		off := y[i] - average(y) - slope*(x[i]-average(x))
		left += off * off
	}
	variance := average(append([]float64{2}, s.records[t]...))
	v := freedom + doubt
	half = distuv.StudentsT{Sigma: 1, Nu: v}.Quantile(.95) * math.Sqrt(lever*(left+doubt*variance)/v)
	return average(y) + slope*at, lever, half, n
}

func (s *slow) surest(j *sched.Job, age int64) (best Prediction, ok bool) {
	best.HalfWidth = math.Inf(1)
	for t := range templates {
		run, _, half, n := s.predict(t, j, age)
		if n > 0 && half < best.HalfWidth-1e-12 {
			seconds := math.Max(math.Max(1, float64(age)), math.Min(math.Exp(run), float64(j.Limit)))
			best, ok = Prediction{seconds, half, n, templates[t].name}, true
		}
	}
	return best, ok
}

func (s *slow) learn(j sched.Job) {
	for t := range templates {
		if run, lever, _, n := s.predict(t, &j, 0); n > 0 {
			off := math.Log(math.Max(1, float64(j.End-j.Start))) - run
			s.records[t] = append(s.records[t], off*off/lever)
		}
	}
	s.jobs = append(s.jobs, j)
}

func average(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(b)) }

func TestAgainstSlow(t *testing.T) {
	var p Predictor
	var s slow
	r := rand.New(rand.NewPCG(3, 3))
	jobs := random(6, 200)
	young, old := 0, 0
	for i := range jobs {
		j := &jobs[i]
		for _, age := range []int64{0, 1, r.Int64N(j.Limit), j.Limit, 2 * j.Limit} {
			got, ok := p.PredictRunning(j, age)
			want, wantOK := s.surest(j, age)
			if ok != wantOK {
				t.Fatalf("job %d, age %d: %+v %v, want %+v %v", i, age, got, ok, want, wantOK)
			}
			if !ok {
				continue
			}
			if !near(got.Seconds, want.Seconds) || !near(got.HalfWidth, want.HalfWidth) || got.Jobs != want.Jobs || got.Template != want.Template {
				t.Fatalf("job %d, age %d: %+v, want %+v", i, age, got, want)
			}
			if got.Seconds < 1 || got.Seconds < float64(age) || got.Seconds > float64(max(age, j.Limit)) || !(got.HalfWidth > 0) {
				t.Fatalf("job %d, age %d, limit %d: %+v", i, age, j.Limit, got)
			}
			if age == 0 {
				young++
			} else {
				old++
			}
		}
		if seconds, ok := p.Estimate(j); ok && (seconds < 1 || seconds > j.Limit) {
			t.Fatalf("job %d: estimate %d", i, seconds)
		}
		p.Learn(j)
		s.learn(*j)
	}
	if young < 180 || old < 350 {
		t.Errorf("only %d and %d answers", young, old)
	}
}

func TestSameAgain(t *testing.T) {
	jobs := random(40, 3000)
	replay := func() (all []float64) {
		var p Predictor
		r := rand.New(rand.NewPCG(4, 4))
		for i := range jobs {
			prediction, _ := p.PredictRunning(&jobs[i], int64(i%3)*300)
			all = append(all, prediction.Seconds, prediction.HalfWidth)
			d := p.Distribution(&jobs[i], int64(i%3)*300)
			all = append(all, float64(d.Draw(r)))
			p.Learn(&jobs[i])
		}
		return all
	}
	if !slices.Equal(replay(), replay()) {
		t.Error("two replays differ")
	}
}

func of(user int32) *sched.Job {
	return &sched.Job{User: user, App: -1, Group: -1, Queue: -1, Procs: 4, Limit: 3600}
}

// history is a predictor that sees one job after the other.
type history struct {
	Predictor
	now int64
}

// ran learns a job of the user that ran for this many seconds.
func (h *history) ran(user int32, run int64) {
	j := of(user)
	j.Submit, j.Start, j.End = h.now, h.now, h.now+run
	h.now = j.End
	h.Learn(j)
}

// TestSurestSpeaks: if a user's jobs always run equally long, the category of that user
// makes the prediction.
func TestSurestSpeaks(t *testing.T) {
	var h history
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		h.ran(1, 1+r.Int64N(3600))
		h.ran(2, 1000)
	}
	got, ok := h.Predict(of(2))
	if !ok || !near(got.Seconds, 1000) || got.Jobs != recent || got.Template != "user, size and limit" {
		t.Errorf("%+v", got)
	}
}

// TestFewAreDoubted: the record of a template bounds how tight the interval of two equal
// runs can be.
func TestFewAreDoubted(t *testing.T) {
	var h history
	r := rand.New(rand.NewPCG(2, 3))
	for i := range int32(400) {
		h.ran(i%20, int64(math.Exp(8*r.Float64())))
	}
	h.ran(100, 60)
	one, _ := h.Predict(of(100))
	h.ran(100, 60)
	two, _ := h.Predict(of(100))
	if one.HalfWidth < 2 || two.HalfWidth < 2 {
		t.Errorf("run times between 1 and 2981 s, but a half width of %.2f after one job, %.2f after two", one.HalfWidth, two.HalfWidth)
	}
	for range 20 {
		h.ran(100, 60)
	}
	if many, _ := h.Predict(of(100)); many.HalfWidth >= two.HalfWidth || !near(many.Seconds, 60) {
		t.Errorf("%+v after 22 equal jobs", many)
	}
}

// TestOlder: a running job is compared only with jobs that ran for longer.
func TestOlder(t *testing.T) {
	var h history
	for range 10 {
		h.ran(1, 10)
		h.ran(1, 2000)
	}
	if got, ok := h.PredictRunning(of(1), 10); !ok || !near(got.Seconds, 2000) {
		t.Errorf("%+v", got)
	}
	if got, ok := h.PredictRunning(of(1), 2000); ok {
		t.Errorf("%+v from none that ran as long", got)
	}
}

// TestStranger: a job of an unknown user is not predicted before anything is learnt. Only
// the most general category learns from it.
func TestStranger(t *testing.T) {
	var h history
	if _, ok := h.Predict(of(-1)); ok {
		t.Error("a prediction out of nothing")
	}
	if seconds, ok := h.Estimate(of(-1)); ok {
		t.Errorf("%d out of nothing", seconds)
	}
	h.ran(-1, 100)
	if got, ok := h.Predict(of(1)); !ok || got.Template != "all, by limit" {
		t.Errorf("%+v", got)
	}
}

// TestBatch: of the jobs that are submitted together, the last to end are not more likely to
// be remembered.
func TestBatch(t *testing.T) {
	var c category
	var random rand.PCG
	const batches, size = 200, 100
	sum := 0.
	for b := range int64(batches) {
		for run := range int64(size) {
			c.add(mean, past{run: float64(run)}, b*1000, b*1000+1+run, &random)
		}
		for _, p := range c.jobs {
			sum += p.run / (batches * memory)
		}
	}
	if math.Abs(sum-float64(size-1)/2) > 2 {
		t.Errorf("of runs of 0 to 99, on average %.1f is remembered", sum)
	}
}

func TestStoreForgets(t *testing.T) {
	var s store
	first := *s.obtain(of(0))
	last := make(map[int32]alike)
	const users = most
	for user := range int32(users) {
		if user > 0 {
			last[user] = *s.obtain(of(user))
		}
		if got := *s.obtain(of(0)); got != first || s.of(of(0)) != first {
			t.Fatalf("one in use is forgotten after %d others", user)
		}
		if n := len(s.young) + len(s.old); n > most {
			t.Fatalf("%d categories", n)
		}
		if len(s.kinds) > most {
			t.Fatalf("%d kinds", len(s.kinds))
		}
	}
	for user := int32(users - most/2/len(templates)); user < users; user++ {
		if s.of(of(user)) != last[user] {
			t.Fatalf("forgotten after %d others", users-1-user)
		}
	}
	if got := s.of(of(1)); got[len(templates)-1] != first[len(templates)-1] || slices.ContainsFunc(got[:len(templates)-1], func(c *category) bool { return c != nil }) {
		t.Error("one not in use is remembered")
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

// eachOf calls do for 50,000 jobs in turn, with a predictor that has learnt them.
func eachOf(b *testing.B, do func(p *Predictor, j *sched.Job)) {
	jobs, p := learnt(50_000)
	i := 0
	for b.Loop() {
		do(p, &jobs[i%len(jobs)])
		i++
	}
}

func BenchmarkEstimate(b *testing.B) {
	eachOf(b, func(p *Predictor, j *sched.Job) { p.Estimate(j) })
}

func BenchmarkPredictRunning(b *testing.B) {
	eachOf(b, func(p *Predictor, j *sched.Job) { p.PredictRunning(j, j.Limit/10) })
}

func BenchmarkLearn(b *testing.B) {
	eachOf(b, func(p *Predictor, j *sched.Job) { p.Learn(j) })
}

// BenchmarkLife measures the submission, the start and the end of a job. Up to five distributions
// are tested for it.
func BenchmarkLife(b *testing.B) {
	var now int64
	eachOf(b, func(p *Predictor, j *sched.Job) {
		now = max(now, j.Start) + 10
		j.End += now - j.Start
		j.Submit, j.Start = now, now
		p.Submitted(j)
		p.Started(j)
		now = j.End
		p.Learn(j)
	})
}

func BenchmarkDistribution(b *testing.B) {
	eachOf(b, func(p *Predictor, j *sched.Job) { p.Distribution(j, 0) })
}

func BenchmarkDistributionRunning(b *testing.B) {
	eachOf(b, func(p *Predictor, j *sched.Job) { p.Distribution(j, j.Limit/10) })
}

func BenchmarkDraw(b *testing.B) {
	jobs, p := learnt(50_000)
	d := p.Distribution(&jobs[0], 1)
	r := rand.New(rand.NewPCG(6, 6))
	for b.Loop() {
		d.Draw(r)
	}
}

// learnt returns n jobs of 300 users, each of whom runs a few kinds of jobs again and again, and a
// predictor that has learnt them.
func learnt(n int) ([]sched.Job, *Predictor) {
	r := rand.New(rand.NewPCG(5, 5))
	kinds := random(300, 2000)
	jobs := make([]sched.Job, n)
	var p Predictor
	for i := range jobs {
		jobs[i] = kinds[int(float64(len(kinds))*math.Pow(r.Float64(), 3))]
		jobs[i].ID, jobs[i].Submit, jobs[i].Start = int64(i), int64(10*i), int64(10*i)
		jobs[i].End = jobs[i].Start + 1 + r.Int64N(jobs[i].Limit)
	}
	live(jobs, &p, nil, func(*sched.Job, int64) {})
	return jobs, &p
}

// TestBasis: a Basis changes when a job has ended that is more like a job than those before, or as
// much, and not when others end.
func TestBasis(t *testing.T) {
	var p Predictor
	job := func(user int32, limit int64) *sched.Job {
		return &sched.Job{User: user, Group: -1, App: -1, Queue: 0, Procs: 4, Limit: limit, Start: 100, End: 160}
	}
	about := job(1, 600)
	last := p.Basis(about)
	for _, c := range []struct {
		ended   *sched.Job
		changes bool
	}{
		{job(2, 60), true},   // nothing was known
		{job(1, 60), true},   // the first of the user
		{job(2, 60), false},  // the user is known by now
		{job(1, 600), true},  // the first with this limit
		{job(1, 60), false},  // that has another
		{job(1, 600), true},  // one more
		{job(2, 600), false}, // of another user
	} {
		p.Learn(c.ended)
		if now := p.Basis(about); (now != last) != c.changes {
			t.Errorf("after a job of user %d with a limit of %d s: %+v, %+v before", c.ended.User, c.ended.Limit, now, last)
		} else {
			last = now
		}
	}
}
