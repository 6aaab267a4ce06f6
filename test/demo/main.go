// Command demo is the demonstration. It starts a private Slurm of eight nodes with two months
// of history and jobs in its queue. A user makes three reservations, and a fourth is refused.
// The command exits with 0 only if every promise was handled as it should be.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/synthetic"
)

func main() { cluster.Main("\nThe demonstration failed", run) }

const (
	nodes       = 8
	cpus        = 4
	pastJobs    = 21_000
	pastDays    = 60
	utilisation = .35
)

func run(ctx context.Context) (err error) {
	began := time.Now()
	title("A private Slurm, with varq installed into it")
	s, err := site.Start(ctx, site.Options{
		Nodes: nodes, Progress: os.Stdout,
		History: synthetic.History(synthetic.Config{
			Seed: 1, Nodes: nodes, CPUs: cpus, ShortNodes: nodes / 4,
			Jobs: pastJobs, Days: pastDays, End: began.Unix(), Utilisation: utilisation,
		}),
	})
	if err != nil {
		return err
	}
	defer func() {
		title("Stopping everything and removing it")
		err = errors.Join(err, s.Stop())
		if err == nil {
			fmt.Printf("\nAll promises were handled as they should be. %d seconds in all.\n", int(time.Since(began).Seconds()))
		}
	}()
	d := &demo{Site: s, ctx: ctx}

	title("Other people's work in the queue")
	loadCtx, stopLoad := context.WithCancel(ctx)
	loadDone := make(chan error, 1)
	go func() { loadDone <- s.Load(loadCtx, cluster.Load{Utilisation: utilisation, Seed: 1}) }()
	defer func() {
		stopLoad()
		err = errors.Join(err, <-loadDone)
	}()
	time.Sleep(10 * time.Second)
	if err := d.show("squeue", "--format=%.8i %.9P %.8u %.2t %.6M %.5D %R"); err != nil {
		return err
	}

	title("What alice may expect of the queue")
	if err := d.show("varq", "predict", "-N1", "-t", "3", "--why"); err != nil {
		return err
	}
	picture := filepath.Join(s.JobDir(), "trajectory.svg")
	if err := d.show("varq", "quote", "-N2", "-t", "1:00:00", "--begin-by=now+12hours", "--prob=0.8", "--plot="+picture); err != nil {
		return err
	}
	if kept, err := keep(picture); err == nil {
		fmt.Println("The picture is kept in", kept)
	}

	title("When a job will have ended")
	if err := d.show("varq", "quote", "-N1", "-t", "20", "--risk=0.8"); err != nil {
		return err
	}

	title("Three reservations")
	deadline := time.Now().Add(150 * time.Second).Truncate(10 * time.Second)
	at := func(t time.Time) string { return t.Format("2006-01-02T15:04:05") }
	by := "--begin-by=" + at(deadline)
	for _, r := range []struct {
		name    string
		options []string
	}{
		{"strict", []string{by, "--prob=0.8"}},
		{"window", []string{by, "--prob=0.8", "--begin-after=" + at(deadline.Add(-time.Minute))}},
		{"best-effort", []string{by, "--prob=0.8", "--best-effort"}},
	} {
		if err := d.reserve(r.name, r.options...); err != nil {
			return err
		}
	}

	title("One that is refused")
	if err := d.refused("--begin-by="+at(deadline), "--prob=0.99", fmt.Sprintf("--nodes=%d", nodes), fmt.Sprintf("--ntasks=%d", nodes*cpus), "--time=10"); err != nil {
		return err
	}

	title("What becomes of them")
	for _, r := range d.reservations {
		if err := d.await(r); err != nil {
			return err
		}
	}
	if err := d.show("varq", "status"); err != nil {
		return err
	}
	title("What was promised, and what was kept")
	if err := d.show("varq", "report"); err != nil {
		return err
	}
	title("What was forecast, and what came true")
	return d.show("varq", "report", "--calibration")
}

// demo is the state of the demonstration.
type demo struct {
	*site.Site
	ctx          context.Context
	reservations []*reservation
}

// reservation is one of alice's reservations.
type reservation struct {
	name, output string
	id           int64
}

func title(text string) { fmt.Printf("\n=== %s\n\n", text) }

// keep copies a file into the folder build below the working directory. It returns the name
// of the copy.
func keep(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	name := filepath.Join("build", filepath.Base(file))
	if err := os.MkdirAll("build", 0o755); err != nil {
		return "", err
	}
	return name, os.WriteFile(name, text, 0o644)
}

// prompt shows a command as alice would have typed it.
func prompt(name string, args []string) {
	fmt.Printf("alice$ %s %s\n", name, strings.Join(args, " "))
}

// show runs a command of alice's that must succeed, and shows what it prints.
func (d *demo) show(name string, args ...string) error {
	prompt(name, args)
	r, err := d.Run(d.ctx, "alice", name, args...)
	if err != nil {
		return err
	}
	fmt.Print(r.Stdout, r.Stderr, "\n")
	if r.Code != 0 {
		return fmt.Errorf("%s %s: exit code %d", name, strings.Join(args, " "), r.Code)
	}
	return nil
}

// reserve submits a job that writes the time at which its work starts to its output.
func (d *demo) reserve(name string, options ...string) error {
	r := &reservation{name: name, output: filepath.Join(d.JobDir(), name+".out")}
	script := filepath.Join(d.JobDir(), name+".sh")
	text := "#!/bin/bash\n#SBATCH --output=" + r.output + "\ndate +%s.%N\nsleep 30\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		return err
	}
	args := append([]string{"--time=3", "--job-name=" + name}, options...)
	prompt("sbatch", append(args, filepath.Base(script)))
	id, run, err := d.Submit(d.ctx, "alice", append(args, script)...)
	fmt.Print(run.Stderr)
	if err != nil {
		return err
	}
	fmt.Printf("Submitted batch job %d\n\n", id)
	r.id = id
	d.reservations = append(d.reservations, r)
	return d.asPlanned(r)
}

// asPlanned checks that the job has the time limit and the eligible time that were planned.
func (d *demo) asPlanned(r *reservation) error {
	promise, err := d.WaitSettled(d.ctx, "alice", r.id, api.StatePending, api.StateHolding, api.StateRunning)
	if err != nil {
		return err
	}
	job, err := d.Job(d.ctx, r.id)
	if err != nil {
		return err
	}
	hours, rest := promise.TimeLimit/3600, promise.TimeLimit%3600
	if want := fmt.Sprintf("%02d:%02d:00", hours, rest/60); job["TimeLimit"] != want {
		return fmt.Errorf("%s: the job's limit is %s, planned was %s", r.name, job["TimeLimit"], want)
	}
	if want := time.Unix(promise.BeginTime, 0).Format("2006-01-02T15:04:05"); job["EligibleTime"] != want && promise.BeginTime > time.Now().Unix() {
		return fmt.Errorf("%s: the job is eligible at %s, planned was %s", r.name, job["EligibleTime"], want)
	}
	return nil
}

// refused submits a job that varq must refuse.
func (d *demo) refused(options ...string) error {
	args := append([]string{"--job-name=refused", "--wrap=true"}, options...)
	prompt("sbatch", args)
	r, err := d.Run(d.ctx, "alice", "sbatch", args...)
	if err != nil {
		return err
	}
	fmt.Print(r.Stdout, r.Stderr)
	fmt.Printf("exit code %d\n", r.Code)
	if r.Code == 0 {
		return errors.New("what should have been refused was submitted")
	}
	queue, err := d.Run(d.ctx, "alice", "squeue", "--noheader", "--name=refused")
	if err != nil {
		return err
	}
	if queue.Stdout != "" {
		return fmt.Errorf("a refused job is in the queue: %s", queue.Stdout)
	}
	return nil
}

// await waits for the outcome of a reservation and checks that the work started
// when it should: at its time if the job had started by then, else at once.
func (d *demo) await(r *reservation) error {
	got, err := d.WaitSettled(d.ctx, "alice", r.id, api.StateKept, api.StateMissed)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(r.output)
	if err != nil {
		return err
	}
	var started float64
	if _, err := fmt.Sscan(string(text), &started); err != nil {
		return fmt.Errorf("%s: %w", r.output, err)
	}
	due := max(got.HoldUntil, got.Start)
	fmt.Printf("%-12s %-7s deadline %s, job started %s, work %+.2f s from %s\n", r.name, got.State,
		clock(got.BeginBy), clock(got.Start), started-float64(due), clock(due))
	// On a busy machine, it takes time until work starts after its hold.
	if late := started - float64(due); late < 0 || late > patient.Seconds() {
		return fmt.Errorf("%s: the work started %+.2f s from its time", r.name, late)
	}
	if kept := got.Start <= got.BeginBy; kept != (got.State == api.StateKept) {
		return fmt.Errorf("%s: started %d, deadline %d, yet %s", r.name, got.Start, got.BeginBy, got.State)
	}
	return nil
}

// patient is by how much the work may start late. Work that is later counts as stuck.
const patient = time.Minute

func clock(at int64) string { return time.Unix(at, 0).Format("15:04:05") }
