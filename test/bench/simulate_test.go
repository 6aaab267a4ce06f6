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

// The number of processors and the load of the simulated logs.
const (
	simProcs = "256"
	simLoad  = "0.8"
)

// BenchmarkSimulate runs varq-lab simulate on logs in files, and measures whole processes. The
// cost of one job is nearly the same for all lengths of logs.
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

// simulate runs varq-lab simulate on one processor, and returns its peak resident memory, in
// MiB.
func simulate(b *testing.B, args ...string) float64 {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), filepath.Join("..", "..", "bin", "varq-lab"), append([]string{"simulate"}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}

// BenchmarkVersion runs the shortest command. Every other command costs at least as much.
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
