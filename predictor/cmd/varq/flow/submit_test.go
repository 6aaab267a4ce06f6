package flow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// A command that is interrupted while sbatch submits a job lets it end, and cancels that job too. A
// terminal's signal does not reach sbatch, which is a process group of its own.
func TestSubmitInterrupted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sbatch": `cd "$SLURM"; read -r _ _ _ _ group _ < /proc/$$/stat; [ $group = $$ ] || exit 1
case " $* " in *second*) echo > begun; while [ ! -e go ]; do sleep .01; done;; esac
echo >> jobs; wc -l < jobs`,
		"scancel": `cd "$SLURM"; echo "$@" > cancelled`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SLURM", dir)
	env := &cli.Env{Stderr: t.Output(), Getenv: func(string) string { return dir + ":" + os.Getenv("PATH") }}
	f, err := Parse([]byte("jobs: [{name: first, sbatch: a.sh}, {name: second, sbatch: b.sh}, {name: third, sbatch: c.sh}]"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			if os.Rename(filepath.Join(dir, "begun"), filepath.Join(dir, "seen")) == nil {
				interrupt()
			}
		}
		_ = os.WriteFile(filepath.Join(dir, "go"), nil, 0o600)
	}()
	_, err = submit(ctx, env, f, true)
	if !errors.Is(err, cli.ErrInterrupted) || err.Error() != "interrupted: the jobs that were submitted are cancelled again" {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "cancelled")); err != nil || string(text) != "1 2\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// What submits a job for varq every tells of it by itself, as varq flow may be killed meanwhile.
func TestSubmitTells(t *testing.T) {
	dir := t.TempDir()
	report := filepath.Join(dir, "the report's")
	for name, text := range map[string]string{
		"sbatch":              "#!/bin/sh\n[ \"$3\" = 'a b.sh' ] && echo '7;alpha'\n",
		"scancel":             "#!/bin/sh\ncd \"${0%/*}\"; echo \"$@\" > cancelled\n",
		"scontrol":            "#!/bin/sh\n",
		filepath.Base(report): "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	order, err := (&sbatch.Order{Recurs: true, Report: report}).Variable()
	if err != nil {
		t.Fatal(err)
	}
	name, value, _ := strings.Cut(order, "=")
	t.Setenv(name, value)
	env := &cli.Env{Stderr: t.Output(), Getenv: func(string) string { return dir + ":" + os.Getenv("PATH") }}
	f, err := Parse([]byte("jobs: [{name: first, sbatch: \"'a b.sh' # a comment\"}, {name: second, afterok: first, sbatch: c.sh}]"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := submit(t.Context(), env, f, false); err == nil || !strings.Contains(err.Error(), "job second is not submitted") {
		t.Error(err)
	}
	if text, err := os.ReadFile(report); err != nil || string(text) != "{\"job\":7}\n{\"cancelled\":true}\n" {
		t.Errorf("%q, %v", text, err)
	}
	// A job that nobody can be told of is cancelled again.
	if err := errors.Join(os.Remove(report), os.Mkdir(report, 0o700), os.Remove(filepath.Join(dir, "cancelled"))); err != nil {
		t.Fatal(err)
	}
	if _, err := submit(t.Context(), env, f, false); err == nil {
		t.Error("it goes on")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "cancelled")); err != nil || string(text) != "7\n" {
		t.Errorf("%q, %v", text, err)
	}
}
