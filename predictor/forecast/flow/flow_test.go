package flow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
)

const epoch = 1_800_000_000

// none is a wait of no time.
func none(int64) (d delay.Distribution) {
	for i := range d {
		d[i] = 1
	}
	return d
}

// lasting is a run time of so many seconds.
func lasting(seconds float64) func(float64) float64 {
	return func(float64) float64 { return seconds }
}

// hour is a job that runs for an hour as soon as it is eligible, and ends well
func hour(conditions ...Condition) Job {
	return Job{Conditions: conditions, Earliest: epoch, Wait: none, Run: lasting(3600), Success: 1}
}

func simulate(jobs []Job, correlation float64) []Courses { return flowOf(jobs, correlation).courses }

func flowOf(jobs []Job, correlation float64) *Flow {
	f := New(correlation, nil, epoch)
	for i, j := range jobs {
		j.ID = int64(i)
		f.Add(j)
	}
	return f
}

func times(courses []int64) *Times {
	t := TimesOf(courses)
	return &t
}

func TestConditions(t *testing.T) {
	const start, end = epoch, epoch + 3600
	first := hour()
	for name, c := range map[string]struct {
		first Job
		then  Job
		want  int64 // when it becomes eligible, if ever
		ever  float64
		lost  float64
	}{
		"after":                 {first, hour(Condition{Event: Begun}), start, 1, 0},
		"after a delay":         {first, hour(Condition{Event: Begun, Delay: 600}), start + 600, 1, 0},
		"after one that runs":   {Job{Earliest: epoch, Started: epoch - 100, Run: lasting(50), Success: 1}, hour(Condition{Event: Begun, Delay: 600}), epoch + 500, 1, 0},
		"at the end of it":      {Job{Earliest: epoch, Started: epoch - 100, Run: lasting(50), Success: 1}, hour(Condition{Event: Ended}), epoch + 50, 1, 0},
		"afterany":              {first, hour(Condition{Event: Ended}), end, 1, 0},
		"afterok":               {first, hour(Condition{Event: Succeeded}), end, 1, 0},
		"afternotok":            {first, hour(Condition{Event: Failed}), Never, 0, 1},
		"afterok, often":        {Job{Earliest: epoch, Wait: none, Run: lasting(3600), Success: .75}, hour(Condition{Event: Succeeded}), end, .75, .25},
		"afternotok, seldom":    {Job{Earliest: epoch, Wait: none, Run: lasting(3600), Success: .75}, hour(Condition{Event: Failed}), end, .25, .75},
		"any of both":           {first, Job{Needed: 1, Conditions: []Condition{{Event: Failed}, {Event: Ended}}, Earliest: epoch, Wait: none, Run: lasting(1), Success: 1}, end, 1, 0},
		"two of three":          {first, Job{Needed: 2, Conditions: []Condition{{Event: Begun}, {Event: Failed}, {Event: Ended}}, Earliest: epoch, Wait: none, Run: lasting(1), Success: 1}, end, 1, 0},
		"two of two that fail":  {first, Job{Needed: 2, Conditions: []Condition{{Event: Begun}, {Event: Failed}, {Event: Failed}}, Earliest: epoch, Wait: none, Run: lasting(1), Success: 1}, Never, 0, 1},
		"both":                  {first, hour(Condition{Event: Begun}, Condition{Event: Ended}), end, 1, 0},
		"it begins later":       {first, Job{Conditions: []Condition{{Event: Ended}}, Earliest: end + 7200, Wait: none, Run: lasting(1), Success: 1}, end + 7200, 1, 0},
		"beyond what is known":  {Job{Earliest: epoch, Wait: func(int64) delay.Distribution { return delay.Distribution{} }, Run: lasting(1), Success: 1}, hour(Condition{Event: Ended}), Never, 0, 0},
		"that it does not know": {Job{Earliest: epoch, Wait: none, Run: lasting(math.Inf(1)), Success: 1}, hour(Condition{Event: Ended}), Never, 0, 0},
	} {
		f := flowOf([]Job{c.first, c.then}, .5)
		got, lost := f.Courses(1), f.Lost([]int{1})
		for d, at := range got.Eligible {
			if at != Never && (at != c.want || got.Start[d] != at) {
				t.Errorf("%s: eligible %d, start %d", name, at-epoch, got.Start[d]-epoch)
				break
			}
		}
		if ever := times(got.Eligible).Ever(); math.Abs(ever-c.ever) > 1./Draws || math.Abs(lost-c.lost) > 1./Draws {
			t.Errorf("%s: in %v of the courses, and lost in %v", name, ever, lost)
		}
	}
}

// Jobs of one array succeed together, those of one program mostly, and others by themselves.
func TestOutcomes(t *testing.T) {
	job := hour()
	job.Success = .8
	both := func(array int64, one, other uint64) float64 {
		f := New(0, nil, epoch)
		parts := make([]int, 2)
		for i, program := range []uint64{one, other} {
			j := job
			j.ID, j.Array, j.Program = int64(10+i), array, program
			parts[i] = f.Add(j)
		}
		return f.Lost([]int{f.Add(hour(Condition{Event: Succeeded, Job: parts[0]}, Condition{Event: Succeeded, Job: parts[1]}))})
	}
	for name, c := range map[string]struct{ lost, want float64 }{
		"one array":      {both(9, 1, 1), .2},
		"one program":    {both(0, 1, 1), .285},
		"other programs": {both(0, 1, 2), .36},
		"unknown":        {both(0, 0, 0), .36},
	} {
		if math.Abs(c.lost-c.want) > .02 {
			t.Errorf("%s: one of two fails with probability %v, want %v", name, c.lost, c.want)
		}
	}
}

// Several jobs together begin with the first of them and end with the last, which is the critical
// one.
func TestJoin(t *testing.T) {
	f := New(0, nil, epoch)
	short := f.Add(Job{ID: 1, Earliest: epoch + 100, Wait: none, Run: lasting(10), Success: 1})
	long := f.Add(Job{ID: 2, Earliest: epoch + 50, Wait: none, Run: lasting(1000), Success: .5})
	both := f.Join([]int{short, long})
	then := f.Add(hour(Condition{Event: Succeeded, Job: both}))
	c := f.Courses(both)
	if c.Eligible[0] != epoch+50 || c.Start[0] != epoch+50 || c.End[0] != epoch+1050 || times(f.Courses(then).Start).Ever() != .5 {
		t.Errorf("together: eligible %d, start %d, end %d", c.Eligible[0]-epoch, c.Start[0]-epoch, c.End[0]-epoch)
	}
	if critical := f.Critical([]int{then}); critical[long] != 1 || critical[short] != 0 {
		t.Errorf("critical: %v", critical)
	}
}

// A wait that may be beyond all that is forecast is so in the same courses for all jobs of a chain,
// which so ends nearly as often as each of them.
func TestBeyond(t *testing.T) {
	mostly := func(int64) (d delay.Distribution) {
		for i := delay.Index(60); i < delay.Points; i++ {
			d[i] = .98
		}
		return d
	}
	jobs := make([]Job, 100)
	for i := range jobs {
		jobs[i] = Job{Earliest: epoch, Wait: mostly, Run: lasting(60), Success: 1}
		if i > 0 {
			jobs[i].Conditions = []Condition{{Event: Ended, Job: i - 1}}
		}
	}
	all := simulate(jobs, AlikeWaits)
	for _, i := range []int{0, 1, 99} {
		if ever := times(all[i].End).Ever(); math.Abs(ever-.98) > .002 {
			t.Errorf("job %d ends in %v of the courses", i, ever)
		}
	}
	if end := times(all[99].End).Quantile(.9); end > epoch+100*121 {
		t.Errorf("the chain ends after %d s", end-epoch)
	}
}

// lognormal is a wait that becomes longer from day to day.
func lognormal(median, sigma float64) func(int64) delay.Distribution {
	return func(at int64) (d delay.Distribution) {
		scale := median * (1 + float64(at-epoch)/86400)
		for i := range d {
			d[i] = .5 * math.Erfc(-math.Log(max(1e-9, delay.At(i)/scale))/sigma/math.Sqrt2)
		}
		return d
	}
}

// graph returns a random flow.
func graph(random *rand.Rand) []Job {
	jobs := make([]Job, 2+random.IntN(12))
	for i := range jobs {
		run, spread := 600+3600*random.Float64(), .1+random.Float64()
		jobs[i] = Job{
			Earliest: epoch, Needed: random.IntN(3), Success: .9 + .1*random.Float64(),
			Wait: lognormal(300+3000*random.Float64(), .5+random.Float64()),
			Run:  func(p float64) float64 { return run * (1 - spread*math.Log(1-p)) },
		}
		for before := range i {
			if random.IntN(2) == 0 {
				jobs[i].Conditions = append(jobs[i].Conditions, Condition{Event: Event(random.IntN(3)), Job: before, Delay: int64(random.IntN(2)) * 60})
			}
		}
		for k := range jobs[i].Conditions {
			if jobs[i].Conditions[k].Event != Begun {
				jobs[i].Conditions[k].Delay = 0
			}
		}
	}
	return jobs
}

// slowly returns the ends of the last job of a flow in many courses, each drawn by itself, in
// order: the oracle. It knows no correlation and no anchors.
func slowly(jobs []Job, courses int, random *rand.Rand) []int64 {
	ends := make([]int64, courses)
	for n := range ends {
		all := make([]Courses, len(jobs))
		for i, j := range jobs {
			at, lost := j.eligible(all, 0, nil)
			c := Courses{[]int64{at}, []int64{Never}, []int64{Never}, []bool{false}, []bool{lost}, []bool{false}}
			if c.Eligible[0] != Never {
				wait := j.Wait(c.Eligible[0])
				c.Start[0] = later(c.Eligible[0], wait.Quantile(random.Float64()))
				c.End[0] = later(c.Start[0], j.Run(random.Float64()))
				c.good[0] = c.End[0] != Never && random.Float64() < j.Success
			}
			all[i] = c
		}
		ends[n] = all[len(jobs)-1].End[0]
	}
	slices.Sort(ends)
	return ends
}

// Without correlation the courses are those of drawing each by itself, up to the exactness of so
// many draws.
func TestOracle(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const courses = 4000
	for range 12 {
		jobs := graph(random)
		want := slowly(jobs, courses, random)
		got := simulate(jobs, 0)[len(jobs)-1].End
		for _, q := range []float64{.1, .25, .5, .75, .9} {
			at := want[int(q*courses)]
			if below := times(got).Prob(at); at != Never && math.Abs(below-q) > .05 {
				t.Errorf("%d jobs: the quantile %v has %v of the courses", len(jobs), q, below)
			}
		}
	}
}

// A job whose nodes fail waits and runs once more from the beginning, whether it has started or
// not.
func TestFailures(t *testing.T) {
	ten := func(int64) (d delay.Distribution) {
		for i := delay.Index(600); i < delay.Points; i++ {
			d[i] = 1
		}
		return d
	}
	for name, j := range map[string]Job{
		"that waits": {Earliest: epoch, Wait: ten, Run: lasting(3600), Success: 1},
		"that runs":  {Earliest: epoch + 600, Started: epoch - 100, Wait: ten, Run: lasting(3600), Success: 1},
	} {
		const wait, run = 600., 3600.
		fails := j
		fails.FailureRate = math.Ln2 / run
		plain, c := simulate([]Job{j}, 0)[0], simulate([]Job{fails}, 0)[0]
		if !slices.Equal(plain.Start, c.Start) {
			t.Errorf("a job %s starts at another time", name)
		}
		late, sum := 0, 0.
		for d := range Draws {
			if c.End[d] != plain.End[d] {
				late++
				sum += float64(c.End[d] - plain.End[d])
			}
		}
		// given that it comes within the run, a failure comes after (1/ln 2 - 1) of it on average
		lost := run * (1/math.Ln2 - 1)
		if math.Abs(float64(late)/Draws-.5) > .05 || math.Abs(sum/float64(late)-lost-wait) > 200 {
			t.Errorf("a job %s: %d are late, by %.0f s", name, late, sum/float64(late))
		}
	}
}

// If the queue is as slow for all, a chain of many jobs may take much longer than if each waits by
// itself. Each job's own wait is as it was.
func TestCorrelation(t *testing.T) {
	var jobs []Job
	for i := range 20 {
		j := Job{Earliest: epoch, Wait: lognormal(600, 1), Run: lasting(60), Success: 1}
		if i > 0 {
			j.Conditions = []Condition{{Event: Ended, Job: i - 1}}
		}
		jobs = append(jobs, j)
	}
	late := func(correlation float64) (first, last int64) {
		all := simulate(jobs, correlation)
		return times(all[0].Start).Quantile(.9) - epoch, times(all[19].End).Quantile(.9) - epoch
	}
	first, last := late(0)
	first2, last2 := late(.6)
	if first != first2 || float64(last2) < 1.2*float64(last) {
		t.Errorf("apart %d and %d s, correlated %d and %d s", first, last, first2, last2)
	}
}

// A wait is asked about at few times.
func TestAnchors(t *testing.T) {
	asked := []int64{}
	second := hour(Condition{Event: Ended})
	second.Wait = func(at int64) delay.Distribution {
		asked = append(asked, at)
		return none(at)
	}
	first := hour()
	first.Run = func(p float64) float64 { return 10000 * p }
	simulate([]Job{first, second}, 0)
	if len(asked) != mostAnchors || !slices.IsSorted(asked) {
		t.Errorf("%v", asked)
	}
}

// Of two branches the longer one is critical, more often the longer it is; and an hour less of a
// job is worth what Critical says.
func TestCritical(t *testing.T) {
	lasts := func(median float64) func(float64) float64 {
		return func(p float64) float64 { return median * (1 - math.Log(1-p)) }
	}
	jobs := func(less float64) []Job {
		long, short := hour(Condition{Event: Ended}), hour(Condition{Event: Ended})
		long.Run, short.Run = lasts(7200-less), lasts(3600)
		return []Job{hour(), long, short, hour(Condition{Event: Succeeded, Job: 1}, Condition{Event: Succeeded, Job: 2})}
	}
	f := flowOf(jobs(0), 0)
	got := f.Critical([]int{3})
	if got[0] != 1 || got[3] != 1 || got[1]+got[2] != 1 || got[1] < .6 || got[1] > .9 {
		t.Errorf("%v", got)
	}
	mean := func(f *Flow) (mean float64) {
		for _, at := range f.Last([]int{3, 1}) {
			mean += float64(at-epoch) / Draws
		}
		return mean
	}
	const less = 60
	// a run takes two medians on average
	if worth := (mean(f) - mean(flowOf(jobs(less), 0))) / less; math.Abs(worth-2*got[1]) > .15*worth {
		t.Errorf("a minute less lets all end %v minutes sooner, Critical says %v", worth, got[1])
	}
	if got := f.Critical([]int{2}); got[0] != 1 || got[1] != 0 || got[2] != 1 {
		t.Errorf("of one branch: %v", got)
	}
	for i, never := range []Job{{Earliest: epoch, Wait: none, Run: lasting(math.Inf(1))}, hour(Condition{Event: Failed})} {
		if got := flowOf([]Job{hour(), never}, 0).Critical([]int{1}); got[0] != 0 || got[1] != 0 {
			t.Errorf("%d never ends: %v", i, got)
		}
	}
}

func BenchmarkSimulate(b *testing.B) {
	random := rand.New(rand.NewPCG(3, 4))
	var jobs []Job
	for i := range 30 {
		j := Job{Earliest: epoch, Wait: lognormal(600, 1), Run: lasting(60), Success: .99}
		for before := range i {
			if random.IntN(8) == 0 {
				j.Conditions = append(j.Conditions, Condition{Event: Succeeded, Job: before})
			}
		}
		jobs = append(jobs, j)
	}
	for b.Loop() {
		simulate(jobs, .3)
	}
}

func TestTimes(t *testing.T) {
	courses := make([]int64, 1000)
	for d := range courses {
		if courses[d] = epoch + int64(d); d >= 800 {
			courses[d] = Never
		}
	}
	all := TimesOf(courses)
	if all.Ever() != .8 || all.Quantile(.8) != Never {
		t.Errorf("it happens with probability %v, and by %d", all.Ever(), all.Quantile(.8))
	}
	for _, prob := range []float64{.1, .4, .7, .79} {
		at := all.Quantile(prob)
		if got := at - epoch; math.Abs(float64(got)-1000*prob) > 1 || math.Abs(all.Prob(at)-prob) > .002 {
			t.Errorf("the quantile %v is %d, with probability %v", prob, got, all.Prob(at))
		}
		if rank := all.Rank(at, .5); math.Abs(rank-prob) > .002 {
			t.Errorf("the quantile %v has the rank %v", prob, rank)
		}
	}
	if shares := all.Shares(10); !slices.IsSorted(shares) || shares[7] == Never || shares[8] != Never || shares[9] != Never {
		t.Errorf("%v", shares)
	}
	never := TimesOf([]int64{Never, Never})
	if never.Prob(Never-1) != 0 || never.Quantile(.5) != Never {
		t.Errorf("%v", never)
	}
}

// A job that runs for as long as it may is stopped, and has then not ended by itself.
func TestStopped(t *testing.T) {
	f := New(0, nil, 0)
	stopped := f.Add(Job{ID: 1, Started: 1, Earliest: 10, Limit: 80, Run: func(prob float64) float64 { return min(80, 100*prob) }})
	other := f.Add(Job{ID: 2, Started: 1, Earliest: 10, Run: func(float64) float64 { return 5 }, HoldUntil: 40})
	all := f.Join([]int{stopped, other})
	for _, jobs := range [][]int{{stopped}, {stopped, other}, {all}} {
		done := TimesOf(f.Done(jobs))
		if share := f.Stopped(jobs); math.Abs(share-.2) > .002 || math.Abs(done.Ever()-.8) > .002 || f.Last(jobs)[0] == Never {
			t.Errorf("%v: stopped %v, done %v", jobs, share, done.Ever())
		}
	}
	if f.Stopped([]int{other}) != 0 || f.Done([]int{other})[0] != 45 {
		t.Errorf("done at %d", f.Done([]int{other})[0])
	}
}
