package extrapolation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast/influence"
)

// days returns the rivals of a job that would start at once if the queue was like others before,
// but waits for days by either simulation.
func days() *[Rivals]delay.Distribution {
	of := new([Rivals]delay.Distribution)
	of[Plain] = within(60)
	for i := range delay.Points {
		of[Likely][i] = min(1, max(0, delay.At(i)-86_400)/(3*86_400))
		of[Moved][i] = min(1, max(0, delay.At(i)-3*86_400)/(9*86_400))
	}
	return of
}

// sums checks that weights add up to 1.
func sums(t *testing.T, w [Rivals]float64) {
	t.Helper()
	if sum := w[Plain] + w[Likely] + w[Moved]; math.Abs(sum-1) > 1e-9 || slices.Min(w[:]) < 0 {
		t.Fatalf("weights of %v", w)
	}
}

// TestFalseAlarm: when a few jobs have started at once though days were simulated, simulations are
// hardly followed any more: in their partition, and less elsewhere. When as many have then waited
// for half a day, they are followed again.
func TestFalseAlarm(t *testing.T) {
	of, trust := days(), NewTrust()
	if got := trust.Of("a/", of); got[Moved] != 1 {
		t.Errorf("at first: %v", got)
	}
	for id := range int64(4) {
		trust.Expect(id, "alice", "a/", 100*id, of)
		trust.Started(id, 100*id+1)
	}
	if own, other := trust.Of("a/", of), trust.Of("b/", of); own[Plain] < .9 || other[Plain] > own[Plain] || other[Plain] < .3 {
		t.Errorf("after 4 outcomes: %.3f, and %.3f in another partition", own, other)
	}
	for id := range int64(8) {
		trust.Expect(100+id, fmt.Sprint("user", id), "a/", 1000, of)
	}
	trust.Wait(1000)
	before := trust.Of("a/", of)
	trust.Wait(1000 + 43_200)
	if got := trust.Of("a/", of); before[Plain] < .9 || got[Plain] > .1 {
		t.Errorf("of jobs that begin to wait %.3f, and after half a day %.3f", before, got)
	}
}

// TestFarBeyond: when simulations of an hour have been wrong again and again, those of an hour are
// not followed any more, but those of weeks are, until they have been wrong, too.
func TestFarBeyond(t *testing.T) {
	of := func(hours float64) *[Rivals]delay.Distribution {
		return &[Rivals]delay.Distribution{within(60), within(1800 * hours), within(7200 * hours)}
	}
	near, far, trust := of(1), of(24*30), NewTrust()
	for id := range int64(50) {
		trust.Expect(id, fmt.Sprint("user", id%10), "a/", 100*id, near)
		trust.Started(id, 100*id+1)
	}
	if near, far := trust.Of("a/", near), trust.Of("a/", far); near[Plain] < .9 || far[Plain] > .2 {
		t.Errorf("after 50 simulations of an hour that were wrong: %.3f, and of a month %.3f", near, far)
	}
	for id := range int64(10) {
		trust.Expect(100+id, fmt.Sprint("other", id), "a/", 10_000, far)
		trust.Started(100+id, 10_001)
	}
	if got := trust.Of("a/", far); got[Plain] < .9 {
		t.Errorf("after 10 of a month: %.3f", got)
	}
	never := of(1)
	never[Moved] = delay.Distribution{}
	sums(t, trust.Of("a/", never))
}

// TestShortWaitsTeachNoMore: in a flood in which most wait, simulations are followed though those
// that start are those that do not wait.
func TestShortWaitsTeachNoMore(t *testing.T) {
	of, trust := days(), NewTrust()
	now := int64(0)
	for id := range int64(200) {
		now += 60
		trust.Expect(id, "", "a/", now, of)
		if id%10 == 9 { // the one of ten that goes before the others
			trust.Started(id, now+5)
		}
		trust.Wait(now)
	}
	if got := trust.Of("a/", of); got[Plain] > .1 {
		t.Errorf("%.3f", got)
	}
}

// TestHangingJobs: while hundreds of jobs hang in the queue, all others start at once. The next one
// is not told that it will hang.
func TestHangingJobs(t *testing.T) {
	of, trust := days(), NewTrust()
	now := int64(0)
	for id := range int64(700) {
		trust.Expect(id, fmt.Sprint("user", id%20), "a/", now, of)
	}
	for id := int64(1000); id < 1400; id++ {
		now += 1800
		trust.Expect(id, fmt.Sprint("other", id%20), "a/", now, of)
		trust.Started(id, now+2)
	}
	if got := trust.Of("a/", of); got[Plain] < .9 {
		t.Errorf("%.3f", got)
	}
}

// TestScoreIsOfTheWait: what was scored of a job while it waited and what remains are together its
// CRPS.
func TestScoreIsOfTheWait(t *testing.T) {
	for _, wait := range []int64{0, 1, 59, 3600, 200_000, 1e9} {
		r := rivals{since: 1000, of: days()}
		r.pass(1000 + wait/2)
		r.pass(1000 + wait)
		r.start()
		for k, got := range r.scores {
			if want := r.of[k].CRPS(float64(wait)); math.Abs(got-want) > 1e-9 {
				t.Errorf("%d s: %v, want %v", wait, got, want)
			}
		}
	}
}

// TestAgainstOracle compares weights with those that follow from the formula in the comment, worked
// out anew for each group from all jobs.
func TestAgainstOracle(t *testing.T) {
	type noted struct {
		id, since, started int64 // started is 0 while it waits
		group              string
		weight             float64
		of                 *[Rivals]delay.Distribution
	}
	random := rand.New(rand.NewPCG(1, 1))
	trust, weighs := NewTrust(), influence.New()
	var jobs []noted
	level := func(of *[Rivals]delay.Distribution) float64 {
		longest, level := max(of[Plain].Quantile(.5), of[Likely].Quantile(.5), of[Moved].Quantile(.5)), 0.
		for ; longest > lowest*math.Pow(4, level) && level < levels-1; level++ {
		}
		return level
	}
	oracle := func(now int64, group string, of *[Rivals]delay.Distribution) (weights [Rivals]float64) {
		all := [...][Rivals]float64{{1, 1, 1}, {1, 1, 1}}
		for _, j := range jobs {
			known, score := 1., func(k int) float64 { return j.of[k].CRPS(float64(j.started - j.since)) }
			if j.started == 0 {
				over := delay.Index(float64(now - j.since))
				known = float64(over) / delay.Points
				score = func(k int) (s float64) {
					for _, p := range j.of[k][:over] {
						s += p * p / delay.Points
					}
					return s
				}
			}
			for i := range all {
				if i == 1 && j.group != group {
					continue
				}
				next, sum, counts := all[i], 0., j.weight
				for above := level(of) - level(j.of); above > 0; above-- {
					counts *= math.Pow(.5, above)
				}
				for k := range next {
					next[k] *= math.Pow(math.Exp(-rate*score(k)), counts)
					sum += next[k]
				}
				for k := range next {
					kept := math.Pow(1-forget, counts*known)
					all[i][k] = kept*next[k]/sum + (1-kept)/Rivals
				}
			}
		}
		sum := 0.
		for k := range weights {
			weights[k] = max(0, all[0][k]*all[1][k]/(all[0][Moved]*all[1][Moved])-1)
			if k == Moved {
				weights[k] = 1
			}
			sum += weights[k]
		}
		for k := range weights {
			weights[k] /= sum
		}
		return weights
	}
	now := int64(0)
	for id := range int64(300) {
		now += 60 + random.Int64N(3600)
		j := noted{id: id, since: now, group: []string{"a/", "b/"}[random.IntN(2)], of: days()}
		if random.IntN(2) == 0 {
			j.of[Plain] = within(1e5 * random.Float64())
		}
		for k := range j.of {
			if random.IntN(2) == 0 {
				j.of[k] = within(math.Exp(20 * random.Float64()))
			}
		}
		user := fmt.Sprint("user", random.IntN(5))
		j.weight = weighs.Weigh(user)
		trust.Expect(id, user, j.group, now, j.of)
		jobs = append(jobs, j)
		if k := random.IntN(len(jobs)); jobs[k].started == 0 {
			jobs[k].started = now
			trust.Started(jobs[k].id, now)
		}
		trust.Wait(now)
		for _, group := range []string{"a/", "b/", "c/"} {
			of := jobs[random.IntN(len(jobs))].of
			got, want := trust.Of(group, of), oracle(now, group, of)
			sums(t, got)
			for k := range got {
				if math.Abs(got[k]-want[k]) > 1e-9 {
					t.Fatalf("job %d, group %s: %v, want %v", id, group, got, want)
				}
			}
		}
	}
}

// TestCrowd: what was learnt before thousands of jobs came at once is not forgotten for them.
func TestCrowd(t *testing.T) {
	of, trust := days(), NewTrust()
	for id := range int64(10) {
		trust.Expect(id, fmt.Sprint("user", id), "a/", 100*id, of)
		trust.Started(id, 100*id+1)
	}
	for id := int64(100); id < 100+3*remembers; id++ {
		trust.Expect(id, "mallory", "a/", 2000, of)
		trust.Wait(2000)
	}
	trust.Wait(3000)
	if got := trust.Of("a/", of); got[Plain] < .9 {
		t.Errorf("%.3f", got)
	}
}

// TestRemembersTheNewest: however many jobs come, memory is bounded.
func TestRemembersTheNewest(t *testing.T) {
	of, trust := days(), NewTrust()
	for id := range int64(10 * remembers) {
		trust.Expect(id, "", fmt.Sprint(id), id, of)
		if len(trust.newest) > remembers || len(trust.waiting) > remembers {
			t.Fatalf("%d jobs, %d that wait", len(trust.newest), len(trust.waiting))
		}
	}
	trust.Wait(1e6)
	if len(trust.older.groups) > mostGroups+remembers/2 {
		t.Errorf("%d groups", len(trust.older.groups))
	}
	trust.Started(1, 1e6) // it is forgotten
	sums(t, trust.Of("1", of))
}

// TestSameAgain: the same events give the same weights, to the last bit.
func TestSameAgain(t *testing.T) {
	run := func() [Rivals]float64 {
		random := rand.New(rand.NewPCG(2, 2))
		of, trust := days(), NewTrust()
		for id := range int64(2000) {
			trust.Expect(id, fmt.Sprint(id%7), fmt.Sprint(id%3), 40*id, of)
			if done := random.Int64N(id + 1); done%3 > 0 {
				trust.Started(done, 40*id+10)
			}
		}
		return trust.Of("1", of)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%v and %v", a, b)
	}
}

// BenchmarkWait scores as many jobs as are noted at most.
func BenchmarkWait(b *testing.B) {
	of, trust := days(), NewTrust()
	for id := range int64(remembers) {
		trust.Expect(id, fmt.Sprint("user", id%50), fmt.Sprint(id%10), id, of)
	}
	for now := int64(10_000); b.Loop(); now += 3600 {
		trust.Wait(now)
	}
}

// BenchmarkOf weighs the rivals by as many jobs as are noted at most.
func BenchmarkOf(b *testing.B) {
	of, trust := days(), NewTrust()
	for id := range int64(remembers) {
		trust.Expect(id, fmt.Sprint("user", id%50), fmt.Sprint(id%10), id, of)
	}
	trust.Wait(100_000)
	for b.Loop() {
		trust.Of("1", of)
	}
}
