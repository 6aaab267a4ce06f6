package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The machine of the simulated logs, and how busy they keep it.
const (
	simProcs = "256"
	simLoad  = "0.8"
)

// BenchmarkSimulate runs varq simulate on logs in files, from the start of its
// process to the end. Over the lengths, what a job costs stays nearly the same.
func BenchmarkSimulate(b *testing.B) {
	for _, jobs := range []int{10_000, 100_000, 1_000_000} {
		log := filepath.Join(b.TempDir(), "log.swf")
		simulate(b, "--model=downey", "--procs="+simProcs, "--load="+simLoad, "--jobs="+strconv.Itoa(jobs), "--backfill=easy", "--schedule="+log)
		for _, backfill := range []string{"easy", "conservative"} {
			b.Run(fmt.Sprintf("%s/%d", backfill, jobs), func(b *testing.B) {
				var most float64
				for b.Loop() {
					most = max(most, simulate(b, "--trace="+log, "--procs="+simProcs, "--backfill="+backfill))
				}
				b.ReportMetric(float64(jobs*b.N)/b.Elapsed().Seconds(), "jobs/s")
				b.ReportMetric(most, "MiB/rss")
			})
		}
	}
}

// simulate runs varq simulate on one processor, and returns the most memory that
// it has held, in MiB.
func simulate(b *testing.B, args ...string) float64 {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), filepath.Join("..", "..", "bin", "varq"), append([]string{"simulate"}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}

// BenchmarkVersion runs the shortest command: what every other one costs too.
func BenchmarkVersion(b *testing.B) {
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := exec.CommandContext(b.Context(), filepath.Join("..", "..", "bin", "varq"), "version").Run(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	b.ReportMetric(median(took), "ms/median")
}
