// Package bench measures the costs of varq for users and administrators: the time that it
// adds to a submission, and the time and memory of varqd.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
)

// median sorts d, which must not be empty, and returns its median in milliseconds.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return d[len(d)/2].Seconds() * 1000
}

// pairs is how often each kind of submission is measured. The kinds take turns, so that
// other load on the machine affects all of them alike.
const pairs = 20

// BenchmarkSubmit measures four kinds of sbatch: without varq; without varq, but with a Lua
// cli_filter that does nothing; with varq installed, but without a reservation; and with a
// reservation. It reports the first, and by how much each other kind takes longer than the
// one before.
func BenchmarkSubmit(b *testing.B) {
	s := site.ForTest(b, site.Options{History: site.Calm(time.Now().Unix())})
	script := filepath.Join(s.JobDir(), "job.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		b.Fatal(err)
	}
	bareConf, err := withoutVarq(s, "bare", `(?mi)^(CliFilterPlugins|PlugStackConfig)=.*\n`)
	if err != nil {
		b.Fatal(err)
	}
	luaConf, err := withoutVarq(s, "lua", `(?mi)^PlugStackConfig=.*\n`)
	if err != nil {
		b.Fatal(err)
	}
	submit := func(env string, args ...string) time.Duration {
		args = append([]string{env, "sbatch", "--quiet", "--time=5", "--output=/dev/null"}, append(args, script)...)
		r, err := s.Run(b.Context(), "alice", "env", args...)
		if err != nil || r.Code != 0 {
			b.Fatalf("sbatch: %v %s", err, r.Stderr)
		}
		return r.Took
	}
	with := "SLURM_CONF=" + s.Conf()
	const later = "--begin=now+12hours" // so that these jobs take no room from the reservations
	for b.Loop() {
		var bare, lua, plain, reserved []time.Duration
		for range pairs {
			bare = append(bare, submit("SLURM_CONF="+bareConf, later))
			lua = append(lua, submit("SLURM_CONF="+luaConf, later))
			plain = append(plain, submit(with, later))
			reserved = append(reserved, submit(with, "--begin-by=now+6hours", "--prob=0.8"))
		}
		b.ReportMetric(median(bare), "ms/bare")
		b.ReportMetric(median(lua)-median(bare), "ms/lua-filter-extra")
		b.ReportMetric(median(plain)-median(lua), "ms/installed-extra")
		b.ReportMetric(median(reserved)-median(plain), "ms/reserved-extra")
		if _, err := s.Run(b.Context(), "root", "scancel", "--user=alice"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// idle is a cli_filter.lua that does nothing.
const idle = `function slurm_cli_setup_defaults() return slurm.SUCCESS end
function slurm_cli_pre_submit() return slurm.SUCCESS end
function slurm_cli_post_submit() return slurm.SUCCESS end
`

// withoutVarq writes a copy of the site's slurm.conf into a new folder, and returns its
// name. The copy lacks the lines that match the regular expression, and loads no SPANK
// plugin. The cli_filter.lua in the folder does nothing.
func withoutVarq(s *site.Site, folder, lines string) (string, error) {
	text, err := os.ReadFile(s.Conf())
	if err != nil {
		return "", err
	}
	dir := s.Path("etc", folder)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	plugStack := filepath.Join(dir, "plugstack.conf")
	conf := filepath.Join(dir, "slurm.conf")
	text = append(regexp.MustCompile(lines).ReplaceAll(text, nil), []byte("PlugStackConfig="+plugStack+"\n")...)
	return conf, errors.Join(
		os.WriteFile(plugStack, []byte("# none\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "cli_filter.lua"), []byte(idle), 0o644),
		os.WriteFile(conf, text, 0o644),
	)
}

// BenchmarkPlansAtOnce asks for 96 promises in all, from 8 clients at the same time.
func BenchmarkPlansAtOnce(b *testing.B) {
	s := site.ForTest(b, site.Options{History: site.Calm(time.Now().Unix())})
	const clients, plans = 8, 96
	for b.Loop() {
		took := make([][]time.Duration, clients)
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				c, err := s.Client()
				if err != nil {
					b.Error(err)
					return
				}
				for n := range plans / clients {
					r := request(time.Now())
					r.BeginBy += int64(n) * 2 * r.Job.Limit // so that there is room for all
					began := time.Now()
					a, err := c.Plan(b.Context(), r)
					if err != nil || a.Plan == nil {
						b.Errorf("%v %+v", err, a.Refusal)
						return
					}
					took[i] = append(took[i], time.Since(began))
				}
			})
		}
		wg.Wait()
		if b.Failed() {
			return
		}
		all := slices.Concat(took...)
		b.ReportMetric(median(all), "ms/median")
		b.ReportMetric(all[len(all)-1].Seconds()*1000, "ms/slowest")
	}
}

// request asks for the promise of a small job, 12 hours before its deadline.
func request(now time.Time) api.PlanRequest {
	return api.PlanRequest{
		Job:     workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 600},
		BeginBy: now.Add(12 * time.Hour).Unix(), Prob: .8,
	}
}

// BenchmarkPast measures varqd with histories of different lengths: its restart, some promises, and
// its memory.
func BenchmarkPast(b *testing.B) {
	for _, jobs := range []int{200_000, 2_000_000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			s := site.ForTest(b, site.Options{Nodes: 1})
			if err := s.StopVarqd(); err != nil {
				b.Fatal(err)
			}
			if err := fill(b.Context(), s, jobs); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				began := time.Now()
				if err := s.StartVarqd(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(began).Seconds(), "s/restart")
				took, err := plan(b.Context(), s, 90) // at most 100 at once
				if err != nil {
					b.Fatal(err)
				}
				slices.Sort(took)
				b.ReportMetric(median(took), "ms/plan-median")
				b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "ms/plan-p99")
				rss, err := residentMiB(s.VarqdPID())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(rss, "MiB/rss")
				if err := s.StopVarqd(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(0, "ns/op")
			if err := s.StartVarqd(b.Context()); err != nil { // the site's cleanup stops varqd
				b.Fatal(err)
			}
		})
	}
}

// fill writes a history of this many jobs into varqd's cache of accounting.
func fill(ctx context.Context, s *site.Site, jobs int) error {
	now := time.Now().Unix()
	return s.Remember(ctx, now-400*86400, func(yield func(workload.Job) bool) {
		for i := 0; ; {
			for j := range site.Calm(now) {
				if i == jobs {
					return
				}
				j.ID = int64(i)
				shift := int64(i) * 150 * 86400 / int64(jobs)
				j.Submit, j.Eligible, j.Start, j.End = j.Submit-shift, j.Eligible-shift, j.Start-shift, j.End-shift
				if i++; !yield(j) {
					return
				}
			}
		}
	})
}

// plan asks for n promises, one after another, takes each back, and returns how long each took.
func plan(ctx context.Context, s *site.Site, n int) ([]time.Duration, error) {
	c, err := s.Client()
	if err != nil {
		return nil, err
	}
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		a, err := c.Plan(ctx, request(began))
		if err != nil {
			return nil, err
		}
		if a.Plan == nil {
			return nil, errors.New(a.Refusal.Reason)
		}
		took[i] = time.Since(began)
		// there is room for few
		if err := c.Cancel(ctx, api.Cancellation{Plan: a.Plan.ID}); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// residentMiB returns the peak resident memory of a process, in MiB.
func residentMiB(pid int) (float64, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	status, err := p.NewStatus()
	return float64(status.VmHWM) / (1 << 20), err
}
