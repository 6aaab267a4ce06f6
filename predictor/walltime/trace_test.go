package walltime

import (
	"cmp"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/accounting/swf"
	"github.com/varq-project/varq/predictor/sched"
	"github.com/varq-project/varq/test/archive"
)

// lived returns a log's jobs with the times at which they really started and
// ended; those that asked for no time have the longest run of the log as limit.
func lived(t testing.TB, name string, most int) []sched.Job {
	log, err := swf.Open(archive.Log(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var jobs []sched.Job
	var longest int64
	for r, err := range log.Records() {
		if err != nil {
			t.Fatal(err)
		}
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

// predictor is what is scored.
type predictor interface {
	Estimate(*sched.Job) (int64, bool)
	Learn(*sched.Job)
}

// asked predicts what the user asked for.
type asked struct{}

func (asked) Estimate(j *sched.Job) (int64, bool) { return j.Limit, true }
func (asked) Learn(*sched.Job)                    {}

// score replays a log as it was lived: at each submission, those jobs are known
// that had ended by then.
func score(jobs []sched.Job, p predictor) Score {
	ends := make([]*sched.Job, len(jobs))
	for i := range jobs {
		ends[i] = &jobs[i]
	}
	slices.SortStableFunc(ends, func(a, b *sched.Job) int { return cmp.Compare(a.End, b.End) })
	var s Score
	for i := range jobs {
		j := &jobs[i]
		for len(ends) > 0 && ends[0].End <= j.Submit {
			p.Learn(ends[0])
			ends = ends[1:]
		}
		predicted := j.Limit
		if seconds, ok := p.Estimate(j); ok {
			predicted = seconds
		}
		s.Add(float64(predicted), float64(j.End-j.Start))
	}
	return s
}

// The predictor beats users and the average of their last two jobs on every log.
func TestScores(t *testing.T) {
	for _, name := range []string{"SDSC-SP2-1998", "CTC-SP2-1996", "KTH-SP2-1996", "SDSC-BLUE-2000", "SDSC-DS-2004", "SDSC-Par-1996", "CEA-Curie-2011"} {
		t.Run(name, func(t *testing.T) {
			jobs := lived(t, name, 100_000)
			users, lastTwo, ours := score(jobs, asked{}), score(jobs, &LastTwo{}), score(jobs, &Predictor{})
			for _, s := range []struct {
				name string
				Score
			}{{"users", users}, {"last two", lastTwo}, {"ours", ours}} {
				t.Logf("%-9s error %6.1f min, %.3f of the mean run time, accuracy %.3f", s.name, s.Error()/60, s.RelativeError(), s.Accuracy())
			}
			if ours.Error() >= users.Error() || ours.Error() >= lastTwo.Error() {
				t.Errorf("mean error %.0f s, of users %.0f, of the last two %.0f", ours.Error(), users.Error(), lastTwo.Error())
			}
		})
	}
}
