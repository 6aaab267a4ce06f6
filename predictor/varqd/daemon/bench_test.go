package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/history"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/workload"
)

// busy returns n jobs of all sizes over 60 days until now, whose waits span
// seconds to a day.
func busy(n int) []workload.Job {
	rng := rand.New(rand.NewPCG(2007, 9))
	first := time.Now().Unix() - 60*86400
	jobs := make([]workload.Job, n)
	for i := range jobs {
		at := first + int64(i)*60*86400/int64(n)
		nodes := int32(1) << rng.IntN(7)
		limit := int64(60) << rng.IntN(11)
		wait := int64(rng.ExpFloat64() * float64(nodes) * float64(limit) / 600)
		jobs[i] = workload.Job{
			ID: int64(i + 1), Submit: at - wait, Eligible: at - wait, Start: at, End: at + limit/2, State: workload.Completed,
			Request: workload.Request{
				User: fmt.Sprintf("user%d", rng.IntN(300)), Account: fmt.Sprintf("acct%d", rng.IntN(40)), Partition: "main", QOS: "normal",
				Size: workload.Size{Nodes: nodes, CPUs: 16 * nodes}, Limit: limit,
			},
		}
	}
	return jobs
}

// fill writes a complete history of n jobs.
func fill(b *testing.B, path string, n int) {
	b.Helper()
	h, _, err := history.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	for chunk := range slices.Chunk(busy(n), 50_000) {
		if _, err := h.Add(b.Context(), chunk, nil); err != nil {
			b.Fatal(err)
		}
	}
	now := time.Now().Unix()
	if _, err := h.Add(b.Context(), nil, &history.Coverage{Since: now - 180*86400, Until: now, Complete: true}); err != nil {
		b.Fatal(err)
	}
}

// experienced runs a daemon with 200,000 past jobs, and returns it and a client.
func experienced(b *testing.B) (*Daemon, *client.Client) {
	b.Helper()
	c := testConfig(b)
	c.Watch = config.Default().Watch
	fill(b, c.History.Path, 200_000)
	return learnt(b, c, &fakeSlurm{})
}

// learnt runs a daemon, and returns it and a client once it has learnt all of the past.
func learnt(b *testing.B, c config.Config, fake Slurm) (*Daemon, *client.Client) {
	b.Helper()
	d, err := New(Options{Config: c, Slurm: fake, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	serve(b, d)
	asking := ask(b, c)
	eventually(b, asking, func(h api.Health) bool { return h.OK && len(h.Notes) == 0 })
	return d, asking
}

// bigRequest asks for a start of a job of four nodes with a probability.
func bigRequest(prob float64) api.PlanRequest {
	r := planRequest()
	r.Job.Nodes, r.Job.CPUs, r.Prob = 4, 64, prob
	return r
}

// A plan 12 hours ahead with 200,000 past jobs, from the client's call to its answer. By
// then the promise is on disk.
func BenchmarkPlan(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent)) // as Main does
	for name, prob := range map[string]float64{"promised": .8, "refused": .9999} {
		b.Run(name, func(b *testing.B) {
			d, asking := experienced(b)
			r := bigRequest(prob)
			var took []time.Duration
			const fit = 64 // promises, beside one another
			for i := 0; b.Loop(); i++ {
				if i%fit == 0 {
					b.StopTimer()
					settleAll(b, d.ledger)
					b.StartTimer()
				}
				began := time.Now()
				a, err := asking.Plan(b.Context(), r)
				took = append(took, time.Since(began))
				if err != nil || (a.Plan == nil) != (prob > .99) {
					b.Fatalf("%+v %+v, %v", a.Plan, a.Refusal, err)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// A plan that is refused because promises made before take all the room, from the client's call to
// its answer, which has offers.
func BenchmarkPlanWithoutRoom(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	_, asking := experienced(b)
	r := bigRequest(.8)
	refused := func() bool {
		a, err := asking.Plan(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		return a.Refusal != nil
	}
	for !refused() {
	}
	for b.Loop() {
		if !refused() {
			b.Fatal("there is room")
		}
	}
}

// settleAll closes all open promises.
func settleAll(b *testing.B, l *ledger.Ledger) {
	b.Helper()
	open, err := l.Select(b.Context(), ledger.Query{Open: true})
	if err != nil {
		b.Fatal(err)
	}
	ids := make([]string, len(open))
	for i := range open {
		ids[i] = open[i].ID
	}
	if err := l.SettleAll(b.Context(), ids, ledger.Settlement{Outcome: api.StateCancelled}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRestartMillion starts varqd, as a process of its own, with a million past jobs. It
// measures the time until the newest are loaded, and the peak memory.
func BenchmarkRestartMillion(b *testing.B) {
	c := testConfig(b)
	fill(b, c.History.Path, 1_000_000)
	dir := b.TempDir()
	varqd := filepath.Join(dir, "varqd")
	if out, err := exec.Command("go", "build", "-o", varqd, "../../cmd/varqd").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	text := fmt.Sprintf("slurmrestd: {url: 'unix:///nowhere', user: root, token_command: ''}\nserver: {socket: %s}\nledger: {path: %s}\nhistory: {path: %s}\n",
		c.Server.Socket, c.Ledger.Path, c.History.Path)
	file := filepath.Join(dir, "varq.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	asking := ask(b, c)
	peak := uint64(0)
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		cmd := exec.CommandContext(ctx, varqd, "--config", file)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		var log bytes.Buffer
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		eventually(b, asking, func(h api.Health) bool { return h.History > 0 })
		process, err := procfs.NewProc(cmd.Process.Pid)
		if err != nil {
			b.Fatal(err)
		}
		status, err := process.NewStatus()
		if err != nil {
			b.Fatal(err)
		}
		peak = max(peak, status.VmHWM)
		cancel()
		if err := cmd.Wait(); err != nil && ctx.Err() == nil {
			b.Fatalf("%v: %s", err, log.String())
		}
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-RSS-MiB")
}
