package walltime

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/test/archive"
)

var logs = []string{"SDSC-SP2-1998", "CTC-SP2-1996", "KTH-SP2-1996", "SDSC-BLUE-2000", "SDSC-DS-2004", "SDSC-Par-1996", "CEA-Curie-2011"}

// lived returns the first jobs of a log with their real starts and ends. A job without a limit,
// as all of SDSC-Par's are, gets the longest run time of such jobs as its limit.
func lived(t testing.TB, name string, most int) (jobs []sched.Job) {
	t.Helper()
	var longest int64
	for r := range archive.Records(t, name) {
		if !r.Ran() || r.Wait < 0 || r.Procs <= 0 {
			continue
		}
		jobs = append(jobs, sched.Job{
			ID: r.Job, Submit: r.Submit, Start: r.Submit + r.Wait, End: r.Submit + r.Wait + r.Run, Limit: r.ReqTime, Procs: int32(r.Procs),
			User: int32(r.User), Group: int32(r.Group), App: int32(r.Executable), Queue: int32(r.Queue), Partition: int32(r.Partition),
		})
		longest = max(longest, r.Run)
		if len(jobs) == most {
			break
		}
	}
	for i := range jobs {
		if jobs[i].Limit <= 0 {
			jobs[i].Limit = longest
		}
	}
	return jobs
}

// predictor is a predictor that is scored.
type predictor interface {
	Estimate(*sched.Job) (int64, bool)
	Learn(*sched.Job)
}

// asked predicts the limit.
type asked struct{}

func (asked) Estimate(j *sched.Job) (int64, bool) { return j.Limit, true }
func (asked) Learn(*sched.Job)                    {}

// replay calls look for each job that is still running at an age, in the order in which the
// jobs reach it. It calls learn for each job when it ends. At age 0 it calls look when a job
// is submitted.
func replay(jobs []sched.Job, age int64, learn, look func(*sched.Job)) {
	ends, looks := make([]*sched.Job, len(jobs)), make([]*sched.Job, 0, len(jobs))
	at := func(j *sched.Job) int64 {
		if age == 0 {
			return j.Submit
		}
		return j.Start + age
	}
	for i := range jobs {
		ends[i] = &jobs[i]
		if age == 0 || at(&jobs[i]) < jobs[i].End {
			looks = append(looks, &jobs[i])
		}
	}
	slices.SortStableFunc(ends, func(a, b *sched.Job) int { return cmp.Compare(a.End, b.End) })
	slices.SortStableFunc(looks, func(a, b *sched.Job) int { return cmp.Compare(at(a), at(b)) })
	for _, j := range looks {
		for len(ends) > 0 && ends[0].End <= at(j) {
			learn(ends[0])
			ends = ends[1:]
		}
		look(j)
	}
}

// score scores the predictions at submission.
func score(jobs []sched.Job, p predictor) Score {
	var s Score
	replay(jobs, 0, p.Learn, func(j *sched.Job) {
		predicted, ok := p.Estimate(j)
		if !ok {
			predicted = j.Limit
		}
		s.Add(float64(predicted), float64(j.End-j.Start))
	})
	return s
}

func report(t *testing.T, name string, s Score) {
	t.Logf("%-16s error %6.1f min, %.3f of the mean run time, accuracy %.3f", name, s.Error()/60, s.RelativeError(), s.Accuracy())
}

func TestLogs(t *testing.T) {
	for _, name := range logs {
		t.Run(name, func(t *testing.T) {
			jobs := lived(t, name, 20_000)
			t.Run("submitted", func(t *testing.T) { scoreSubmitted(t, jobs) })
			t.Run("running", func(t *testing.T) { scoreRunning(t, jobs, 3600) })
		})
	}
}

// scoreSubmitted checks that the predictor beats users and the average of their last two
// jobs.
func scoreSubmitted(t *testing.T, jobs []sched.Job) {
	users, lastTwo, ours := score(jobs, asked{}), score(jobs, &LastTwo{}), score(jobs, &Predictor{})
	report(t, "users", users)
	report(t, "last two", lastTwo)
	report(t, "ours", ours)
	if ours.Error() >= users.Error() || ours.Error() >= lastTwo.Error() {
		t.Errorf("mean error %.0f s, of users %.0f, of the last two %.0f", ours.Error(), users.Error(), lastTwo.Error())
	}
}

// scoreRunning checks that the predictor benefits from a job's age. It must beat users, and
// be more accurate than without the age. Its mean error must also be smaller, except for the
// first 20,000 jobs of SDSC-Par, whose long jobs have no limit.
func scoreRunning(t *testing.T, jobs []sched.Job, age int64) {
	var p Predictor
	var users, young, ours Score
	replay(jobs, age, p.Learn, func(j *sched.Job) {
		run := float64(j.End - j.Start)
		predicted, atFirst := float64(j.Limit), float64(j.Limit)
		if got, ok := p.Predict(j); ok {
			atFirst = got.Seconds
		}
		if got, ok := p.PredictRunning(j, age); ok {
			predicted = got.Seconds
		}
		users.Add(float64(j.Limit), run)
		young.Add(max(float64(age), atFirst), run)
		ours.Add(predicted, run)
	})
	report(t, "users", users)
	report(t, "as if submitted", young)
	report(t, "ours", ours)
	if ours.Error() >= users.Error() {
		t.Errorf("mean error %.0f s, of users %.0f", ours.Error(), users.Error())
	}
	if ours.Accuracy() <= young.Accuracy() {
		t.Errorf("accuracy %.3f, not knowing the age %.3f", ours.Accuracy(), young.Accuracy())
	}
}

// BenchmarkLogs predicts and learns whole logs. The errors are shares of the mean
// run time.
func BenchmarkLogs(b *testing.B) {
	for _, name := range logs {
		b.Run(name, func(b *testing.B) {
			jobs := lived(b, name, math.MaxInt)
			var s Score
			for b.Loop() {
				s = score(jobs, &Predictor{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(jobs)), "ns/job")
			b.ReportMetric(s.RelativeError(), "error")
			lastTwo := score(jobs, &LastTwo{})
			b.ReportMetric(lastTwo.RelativeError(), "error-last-two")
			users := score(jobs, asked{})
			b.ReportMetric(users.RelativeError(), "error-users")
		})
	}
}
