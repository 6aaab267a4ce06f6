package synthetic_test

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/synthetic"
)

var config = synthetic.Config{
	Seed: 1, Nodes: 8, CPUs: 4, ShortNodes: 2, Jobs: 20_000, Days: 60, End: 1_700_000_000, Utilisation: .75,
}

func history(t testing.TB, c synthetic.Config) []workload.Job {
	t.Helper()
	var jobs []workload.Job
	for j, err := range synthetic.History(c) {
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func TestSameSeedSameHistory(t *testing.T) {
	first := history(t, config)
	if diff := gocmp.Diff(first, history(t, config)); diff != "" {
		t.Errorf("the same seed gave another history:\n%s", diff)
	}
	other := config
	other.Seed++
	if gocmp.Equal(first, history(t, other)) {
		t.Error("another seed gave the same history")
	}
}

func TestHistoryIsPossible(t *testing.T) {
	jobs := history(t, config)
	if len(jobs) < config.Jobs {
		t.Errorf("%d jobs, want at least %d", len(jobs), config.Jobs)
	}
	for _, j := range jobs {
		switch {
		case j.Submit < config.End-int64(config.Days)*86400 || j.End >= config.End:
			t.Fatalf("job outside the past: %+v", j)
		case j.Start < j.Submit || j.End <= j.Start || j.Eligible != j.Submit:
			t.Fatalf("times out of order: %+v", j)
		case j.End-j.Start > j.Limit:
			t.Fatalf("job runs for longer than its limit: %+v", j)
		case j.CPUs > j.Nodes*int32(config.CPUs) || j.CPUs < j.Nodes:
			t.Fatalf("impossible size: %+v", j)
		case !j.State.Finished():
			t.Fatalf("not finished: %+v", j)
		case j.Partition == "short" && j.Limit > 3600:
			t.Fatalf("too long for its partition: %+v", j)
		}
	}
}

// TestHistoryKeepsToCapacity checks that the running jobs never use more CPUs than the
// machine and the partition "short" have.
func TestHistoryKeepsToCapacity(t *testing.T) {
	jobs := history(t, config)
	for partition, nodes := range map[string]int{"": config.Nodes, "short": config.ShortNodes} {
		type change struct{ at, cpus int64 }
		var changes []change
		for _, j := range jobs {
			if partition == "" || j.Partition == partition {
				changes = append(changes, change{j.Start, int64(j.CPUs)}, change{j.End, -int64(j.CPUs)})
			}
		}
		slices.SortFunc(changes, func(a, b change) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.cpus, b.cpus))
		})
		var used int64
		for _, c := range changes {
			if used += c.cpus; used > int64(nodes*config.CPUs) {
				t.Fatalf("partition %q: %d CPUs in use at %d", partition, used, c.at)
			}
		}
	}
}

func TestUtilisation(t *testing.T) {
	var used int64
	for _, j := range history(t, config) {
		used += (j.End - j.Start) * int64(j.CPUs)
	}
	got := float64(used) / float64(int64(config.Nodes*config.CPUs)*int64(config.Days)*86400)
	if got < .65 || got > .8 {
		t.Errorf("utilisation %.3f, want about %.2f", got, config.Utilisation)
	}
}

// TestWaitsFollowSizeAndLimit checks that small and short jobs wait less, because they are
// backfilled.
func TestWaitsFollowSizeAndLimit(t *testing.T) {
	mean := func(which func(workload.Job) bool) float64 {
		var sum, n float64
		for _, j := range history(t, config) {
			if w, ok := j.Wait(); ok && which(j) {
				sum += float64(w)
				n++
			}
		}
		return sum / n
	}
	small := mean(func(j workload.Job) bool { return j.CPUs <= 2 })
	large := mean(func(j workload.Job) bool { return j.Nodes >= 3 })
	if small*1.5 > large {
		t.Errorf("mean wait of small jobs %.0f s, of large ones %.0f s", small, large)
	}
	short := mean(func(j workload.Job) bool { return j.Partition == "main" && j.Nodes == 1 && j.Limit <= 600 })
	long := mean(func(j workload.Job) bool { return j.Partition == "main" && j.Nodes == 1 && j.Limit >= 4*3600 })
	if short > long {
		t.Errorf("mean wait of short jobs %.0f s, of long ones %.0f s", short, long)
	}
}

func TestBadConfig(t *testing.T) {
	bad := config
	bad.Utilisation = 1
	for _, err := range synthetic.History(bad) {
		if err == nil {
			t.Error("a utilisation of 1 gave jobs")
		}
		break
	}
}

func BenchmarkHistory(b *testing.B) {
	for b.Loop() {
		history(b, config)
	}
}
