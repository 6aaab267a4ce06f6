package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Submit prepares the command that submits a job of the stream; script and its arguments come last.
type Submit func(ctx context.Context, j *Job, script []string) *exec.Cmd

// Runner submits jobs as they come, and keeps what becomes of them.
type Runner struct {
	// Dir is a folder into which all users may write.
	Dir string
	// Name is that of the stream's files there.
	Name string
	// Most is the most nodes that a job without Nodes gets.
	Most int32
	// Quicker is how many times as quick all that happens is as the jobs say: their submission and
	// their work. Their limits stay, because Slurm's are whole minutes. 0 stands for 1.
	Quicker float64
	// Submit is how jobs are submitted.
	Submit Submit
}

// Outcome is what has become of a job. Times are seconds since the stream began, as they really
// were; of a job that has not ended, End is 0.
type Outcome struct {
	Job
	Submitted float64
	Err       error // of its submission
	Said      string
	Starts    []Start
}

// Start is one start of a job's work.
type Start struct {
	Cluster    string
	ID         int64
	Nodes      int32
	Began, End float64
}

// Turnaround returns the seconds from the job's submission until its work had ended.
func (o *Outcome) Turnaround() float64 { return o.Starts[0].End - o.Submitted }

// Wait returns the seconds from the job's submission until its work began.
func (o *Outcome) Wait() float64 { return o.Starts[0].Began - o.Submitted }

// Done reports whether the job's work was done, once.
func (o *Outcome) Done() bool { return len(o.Starts) == 1 && o.Starts[0].End > 0 }

// script is the work of a job: it writes when it begins and when it ends, and sleeps as long as it
// runs on as many nodes as it has.
const script = `#!/bin/sh
#SBATCH --output=/dev/null
name=$1 file=$2
echo began $name $SLURM_CLUSTER_NAME $SLURM_JOB_ID $SLURM_JOB_NUM_NODES $(date +%s.%N) >>$file
shift 1
eval "sleep \${$((SLURM_JOB_NUM_NODES + 1))}"
echo ended $name $SLURM_CLUSTER_NAME $SLURM_JOB_ID $SLURM_JOB_NUM_NODES $(date +%s.%N) >>$file
`

func (r *Runner) file() string { return filepath.Join(r.Dir, r.Name+".log") }

// Run submits the jobs, which are in the order of their submission, and waits until the last
// command that submits has ended. The stream begins at began. Ended returns true when no job is
// left in the queue; Run asks it until then, or until ctx is done.
func (r *Runner) Run(ctx context.Context, began time.Time, jobs []Job, ended func() bool) ([]Outcome, error) {
	name, err := r.prepare()
	if err != nil {
		return nil, err
	}
	all := make([]Outcome, len(jobs))
	var wait sync.WaitGroup
	for i := range jobs {
		all[i].Job, all[i].Submitted = jobs[i], jobs[i].At/r.times()
		if !sleepUntil(ctx, began.Add(time.Duration(all[i].Submitted*float64(time.Second)))) {
			return nil, ctx.Err()
		}
		wait.Go(func() { all[i].Said, all[i].Err = output(r.Submit(ctx, &all[i].Job, r.work(name, &all[i].Job))) })
	}
	wait.Wait()
	return all, r.finish(ctx, all, began, ended)
}

// OneByOne submits n jobs of a second on one node, each when the command of the one before has
// ended, and calls submitted with how long that took. It waits as Run does until no job is left.
// Times of the outcomes have no meaning.
func (r *Runner) OneByOne(ctx context.Context, n int, submitted func(took time.Duration), ended func() bool) ([]Outcome, error) {
	name, err := r.prepare()
	if err != nil {
		return nil, err
	}
	all := make([]Outcome, n)
	for i := range all {
		o := &all[i]
		o.Job = Job{Name: fmt.Sprintf("one%d", i+1), User: "alice", Nodes: 1, Run: 1, Limit: 60}
		began := time.Now()
		o.Said, o.Err = output(r.Submit(ctx, &o.Job, r.work(name, &o.Job)))
		submitted(time.Since(began))
	}
	return all, r.finish(ctx, all, time.Now(), ended)
}

// prepare writes the script, and an empty file for what jobs write.
func (r *Runner) prepare() (name string, err error) {
	name = filepath.Join(r.Dir, r.Name+".sh")
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(r.file(), nil, 0o666); err != nil {
		return "", err
	}
	return name, os.Chmod(r.file(), 0o666)
}

// finish waits until no job is left, and reads what they have written.
func (r *Runner) finish(ctx context.Context, all []Outcome, began time.Time, ended func() bool) error {
	for !ended() {
		if !sleepUntil(ctx, time.Now().Add(time.Second)) {
			return fmt.Errorf("jobs are left: %w", ctx.Err())
		}
	}
	return r.read(all, began)
}

func (r *Runner) times() float64 { return cmp.Or(r.Quicker, 1) }

// work is the job's script with its arguments: the seconds that it takes on 1, 2, 3, ... nodes come
// last.
func (r *Runner) work(name string, j *Job) []string {
	args := []string{name, j.Name, r.file()}
	for n := range max(r.Most, j.Nodes) {
		args = append(args, strconv.FormatFloat(j.On(n+1)/r.times(), 'f', 2, 64))
	}
	return args
}

func sleepUntil(ctx context.Context, at time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(at)):
		return true
	}
}

func output(cmd *exec.Cmd) (string, error) {
	text, err := cmd.CombinedOutput()
	if err != nil {
		return string(text), fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, text)
	}
	return string(text), nil
}

// read reads what the jobs have written.
func (r *Runner) read(all []Outcome, began time.Time) error {
	text, err := os.ReadFile(r.file())
	if err != nil {
		return err
	}
	of := make(map[string]*Outcome, len(all))
	for i := range all {
		of[all[i].Name] = &all[i]
	}
	for line := range strings.Lines(string(text)) {
		var what, name string
		var s Start
		var at float64
		if _, err := fmt.Sscan(line, &what, &name, &s.Cluster, &s.ID, &s.Nodes, &at); err != nil || of[name] == nil {
			return errors.Join(fmt.Errorf("a job has written %q", line), err)
		}
		at -= float64(began.UnixNano()) / 1e9
		o := of[name]
		if what == "began" {
			s.Began = at
			o.Starts = append(o.Starts, s)
			continue
		}
		for i := range o.Starts {
			if o.Starts[i].ID == s.ID && o.Starts[i].Cluster == s.Cluster {
				o.Starts[i].End = at
			}
		}
	}
	return nil
}
