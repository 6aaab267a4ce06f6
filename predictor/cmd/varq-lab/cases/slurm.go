package cases

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/varq-project/varq/predictor/trial/study"
)

// mostTasks bounds the tasks of an array: Slurm's default of MaxArraySize is 1001. With
// more cases than that, a task runs several.
const mostTasks = 1000

const (
	pollEvery = 2 * time.Second
	// settleTime bounds the time until a file that a node has written is visible on this
	// machine.
	settleTime = 30 * time.Second
)

// Slurm runs the cases whose outcomes the folder does not have as a job array, and waits
// for it. task is the shell command that runs a part of the study on a node and puts the
// outcomes into the folder, without its last option, --part. All nodes must share the
// folder. sbatch takes options from the environment, such as SBATCH_PARTITION. When ctx
// ends, Slurm cancels the array. Slurm returns the same outcomes and errors as Local.
func (r *Run) Slurm(ctx context.Context, cases []study.Case, name, task string) ([]study.Outcome, error) {
	g := newGathering(r, cases)
	missing, err := g.load()
	if err != nil {
		return nil, err
	}
	if len(missing) == 0 {
		return g.outcomes()
	}
	tasks := min(len(cases), mostTasks)
	array, err := submit(r.Folder, name, fmt.Sprintf("%s --part=$SLURM_ARRAY_TASK_ID/%d", task, tasks), parts(missing, tasks))
	if err != nil {
		return nil, err
	}
	ended := array.wait()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-ctx.Done():
			return nil, errors.Join(g.interrupted(), array.cancel())
		case <-ended:
			running = false
		case <-tick.C:
		}
		if missing, err = g.load(); err != nil {
			return nil, errors.Join(err, array.cancel())
		}
	}
	for deadline := time.Now().Add(settleTime); len(missing) > 0 && time.Now().Before(deadline) && array.silent(missing, tasks); {
		select {
		case <-ctx.Done():
			return nil, g.interrupted()
		case <-tick.C:
		}
		if missing, err = g.load(); err != nil {
			return nil, err
		}
	}
	for _, i := range missing {
		g.fail(i, array.failure(i%tasks))
	}
	return g.outcomes()
}

// parts returns the tasks of an array that run the cases, each once and in order.
func parts(cases []int, tasks int) []int {
	var of []int
	for _, i := range cases {
		of = append(of, i%tasks)
	}
	slices.Sort(of)
	return slices.Compact(of)
}

// array is a job array in Slurm.
type array struct {
	id     string
	folder *Folder
	sbatch *exec.Cmd // waits until the array has ended
	stderr *bytes.Buffer
}

// submit submits a job array with these tasks. It cannot be interrupted, because an array
// can be cancelled only when its id is known.
func submit(f *Folder, name, task string, tasks []int) (*array, error) {
	logs := f.Path(slurmDir)
	if err := errors.Join(os.RemoveAll(logs), os.MkdirAll(logs, 0o777)); err != nil {
		return nil, err
	}
	indices := make([]string, len(tasks))
	for i, t := range tasks {
		indices[i] = strconv.Itoa(t)
	}
	a := &array{folder: f, stderr: &bytes.Buffer{}}
	a.sbatch = exec.Command("sbatch", "--parsable", "--wait",
		"--job-name="+name, "--ntasks=1", "--cpus-per-task=1",
		"--array="+strings.Join(indices, ","),
		"--chdir="+f.Path(),
		"--output="+strings.ReplaceAll(f.Path(slurmDir), "%", "%%")+"/%a.out")
	a.sbatch.Stdin = strings.NewReader("#!/bin/sh\nGOMAXPROCS=1 exec " + task + "\n")
	a.sbatch.Stderr = a.stderr
	// An interrupt from the terminal must not reach sbatch before the array is
	// cancelled.
	a.sbatch.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := a.sbatch.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := a.sbatch.Start(); err != nil {
		return nil, fmt.Errorf("a Slurm job array needs sbatch: %w", err)
	}
	out := bufio.NewReader(stdout)
	line, _ := out.ReadString('\n')
	a.id, _, _ = strings.Cut(strings.TrimSpace(line), ";")
	if _, err := strconv.ParseUint(a.id, 10, 32); err != nil {
		_, _ = io.Copy(io.Discard, out)
		err = cmp.Or(a.sbatch.Wait(), fmt.Errorf("it answered %.40q", line))
		return nil, fmt.Errorf("sbatch did not submit the study: %w: %s", err, strings.TrimSpace(a.stderr.String()))
	}
	return a, nil
}

// wait returns a channel that is closed when the array has ended. The exit code of sbatch
// does not matter: the folder has the outcome of each task.
func (a *array) wait() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = a.sbatch.Wait()
	}()
	return ended
}

// cancel ends the array and sbatch, which waits for it.
func (a *array) cancel() error {
	_ = a.sbatch.Process.Kill()
	out, err := exec.Command("scancel", a.id).CombinedOutput()
	if err != nil {
		return fmt.Errorf("job %s was not cancelled: scancel: %w: %s", a.id, err, bytes.TrimSpace(out))
	}
	return nil
}

// log returns the output of a task.
func (a *array) log(task int) string {
	data, err := os.ReadFile(filepath.Join(a.folder.Path(slurmDir), strconv.Itoa(task)+".out"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// silent reports whether the task of one of the cases has written nothing. Its outcome may
// then still become visible.
func (a *array) silent(cases []int, tasks int) bool {
	return slices.ContainsFunc(cases, func(i int) bool { return a.log(i%tasks) == "" })
}

// failure returns the reason why a task left no outcome.
func (a *array) failure(task int) error {
	said := a.log(task)
	if said == "" {
		return fmt.Errorf("task %s_%d left neither an outcome nor a word: do all nodes share %s?", a.id, task, a.folder.Path())
	}
	return fmt.Errorf("task %s_%d: %s", a.id, task, said[strings.LastIndexByte(said, '\n')+1:])
}
