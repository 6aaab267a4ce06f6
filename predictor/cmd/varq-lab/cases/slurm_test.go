package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/trial/study"
)

// TestMain also runs the tasks of the array: test OUT --part=PART runs a part of the toy
// study, and keeps the outcomes in the folder OUT. The cases with seed 2 fail.
func TestMain(m *testing.M) {
	if os.Getenv("SLURM_ARRAY_TASK_ID") == "" {
		os.Exit(m.Run())
	}
	if err := task(os.Args[1], strings.TrimPrefix(os.Args[2], "--part=")); err != nil {
		fmt.Println("varq:", err)
		os.Exit(3)
	}
}

func task(out, part string) error {
	p, err := ParsePart(part)
	if err != nil {
		return err
	}
	f, err := Open(out, Setting{Study: "toy"})
	if err != nil {
		return err
	}
	cases := p.Choose((&toy{}).Cases(study.Options{Seeds: 3}))
	for i := range cases {
		if cases[i].Seed == 2 {
			cases[i].Name = "bad"
		}
	}
	_, err = newRun(&toy{}, f).Local(context.Background(), cases)
	return err
}

// fakeSlurm puts testdata's sbatch and scancel first in the PATH. log returns their command
// lines.
func fakeSlurm(t *testing.T) (log func() string) {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector need not wait when a task exits
	name := filepath.Join(t.TempDir(), "log")
	t.Setenv("SLURM_LOG", name)
	return func() string {
		data, _ := os.ReadFile(name)
		return string(data)
	}
}

func runSlurm(ctx context.Context, f *Folder, seeds int) ([]study.Outcome, error) {
	s := &toy{}
	return newRun(s, f).Slurm(ctx, s.Cases(study.Options{Seeds: seeds}), "varq-toy", os.Args[0]+" "+f.Path())
}

func TestSlurm(t *testing.T) {
	log := fakeSlurm(t)
	f := open(t, filepath.Join(t.TempDir(), "50%"), Setting{Study: "toy"})
	got, err := runSlurm(t.Context(), f, 3)
	var failures Failures
	if !errors.As(err, &failures) || len(failures) != 2 || len(got) != 4 {
		t.Fatalf("%d outcomes, %v", len(got), err)
	}
	if want := "case a / b=1, seed 2: task 4711_4: varq: case bad, seed 2: no log of that name"; failures[0].Error() != want {
		t.Errorf("%q, want %q", failures[0], want)
	}
	for _, want := range []string{"--array=0,1,2,3,4,5 ", "--job-name=varq-toy", "--wait", "/50%%/slurm/%a.out"} {
		if !strings.Contains(log(), want) {
			t.Errorf("sbatch was told %q without %q", log(), want)
		}
	}
	// Only what is missing is submitted again.
	if _, err := runSlurm(t.Context(), f, 3); err == nil {
		t.Error("the cases that failed are there now")
	}
	if again := strings.SplitAfter(log(), "\n")[1]; !strings.Contains(again, "--array=4,5 ") {
		t.Errorf("then sbatch was told %q", again)
	}
	if got, err := runSlurm(t.Context(), f, 2); err != nil || len(got) != 4 || strings.Count(log(), "\n") != 2 {
		t.Errorf("with nothing missing: %d outcomes, %v, sbatch was told %q", len(got), err, log())
	}
}

func TestSlurmRefuses(t *testing.T) {
	fakeSlurm(t)
	t.Setenv("REFUSE", "Invalid account")
	_, err := runSlurm(t.Context(), open(t, t.TempDir(), Setting{Study: "toy"}), 1)
	if err == nil || !strings.Contains(err.Error(), "Batch job submission failed: Invalid account") {
		t.Errorf("error %v", err)
	}
	t.Setenv("PATH", "")
	if _, err := runSlurm(t.Context(), open(t, t.TempDir(), Setting{Study: "toy"}), 1); err == nil || !strings.Contains(err.Error(), "needs sbatch") {
		t.Errorf("without Slurm: %v", err)
	}
}

// TestSlurmInterrupted: an interrupt while the array runs cancels the array.
func TestSlurmInterrupted(t *testing.T) {
	log := fakeSlurm(t)
	t.Setenv("SLOW", "1")
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for log() == "" {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	_, err := runSlurm(ctx, open(t, t.TempDir(), Setting{Study: "toy"}), 1)
	if !errors.Is(err, cli.ErrInterrupted) || !strings.Contains(log(), "scancel 4711") {
		t.Errorf("error %v; Slurm was told %q", err, log())
	}
}

// TestManyCases: every missing case is in a task, and each task is listed once.
func TestManyCases(t *testing.T) {
	if got := fmt.Sprint(parts([]int{3, 1000, 1003, 2003, 2500}, 1000)); got != "[0 3 500]" {
		t.Errorf("tasks %s", got)
	}
}

// TestWordless: the error for a task without any output names the folder.
func TestWordless(t *testing.T) {
	a := &array{id: "4711", folder: open(t, t.TempDir(), Setting{})}
	if !a.silent([]int{3}, 10) {
		t.Error("a task without output is not silent")
	}
	if err := a.failure(3); !strings.Contains(err.Error(), "task 4711_3 left neither") {
		t.Errorf("error %v", err)
	}
}
