package downey

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/cluster/sched"
)

func TestJobs(t *testing.T) {
	for _, procs := range []int32{1, 2, 128, 5000} {
		m := Model{Procs: procs, Load: .8}
		last := sched.Job{}
		for job := range m.Jobs(rand.New(rand.NewPCG(1, 1)), 10_000) {
			if job.ID != last.ID+1 || job.Submit < last.Submit || job.Procs < 1 || job.Procs > procs ||
				job.Run < 1 || job.Run > 162755 || job.Limit < job.Run || job.User < 1 || job.User > users || job.Queue != -1 {
				t.Fatalf("%d processors: %+v after %+v", procs, job, last)
			}
			last = job
		}
		if last.ID != 10_000 {
			t.Errorf("%d processors: %d jobs", procs, last.ID)
		}
	}
}

// TestJobsOfferTheLoad: the work that arrives is the work asked for. For 300,000 jobs its
// standard error is about 0.5 %, mostly because of the few longest jobs.
func TestJobsOfferTheLoad(t *testing.T) {
	const load = .8
	for _, procs := range []int32{1, 2, 3, 64, 256} {
		offered, last := 0., int64(0)
		for job := range (Model{Procs: procs, Load: load}).Jobs(rand.New(rand.NewPCG(uint64(procs), 1)), 300_000) {
			offered += float64(job.Procs) * float64(job.Run)
			last = job.Submit
		}
		offered /= float64(procs) * float64(last)
		if math.Abs(offered-load) > .015*load {
			t.Errorf("%d processors: offered load %.4f, want %v", procs, offered, load)
		}
	}
}

func TestJobsAreTheSeeds(t *testing.T) {
	jobs := func(seed uint64) []sched.Job {
		return slices.Collect(Model{Procs: 64, Load: .7}.Jobs(rand.New(rand.NewPCG(seed, 0)), 100))
	}
	if !slices.Equal(jobs(1), jobs(1)) {
		t.Error("one seed, two workloads")
	}
	if slices.Equal(jobs(1), jobs(2)) {
		t.Error("two seeds, one workload")
	}
}

func TestUsualLimit(t *testing.T) {
	for seconds, want := range map[float64]int64{1: 60, 60: 60, 61: 120, 7201: 3 * 3600, day: day, day + 1: 2 * day} {
		if got := usualLimit(seconds); got != want {
			t.Errorf("%v s are rounded to %d, want %d", seconds, got, want)
		}
	}
}

func BenchmarkJobs(b *testing.B) {
	b.ReportAllocs()
	const n = 1_000_000
	work := int64(0)
	for b.Loop() {
		for job := range (Model{Procs: 256, Load: .8}).Jobs(rand.New(rand.NewPCG(1, 1)), n) {
			work += job.Run
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "jobs/s")
}
