package chain

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// commands are Slurm's, as far as a link uses them: sbatch refuses what has a word of the file
// refused.
var commands = map[string]string{
	"sbatch": `cd "$SLURM"; echo sbatch "$@" >> asked; for word in $(cat refused); do case " $* " in *" $word "*) exit 1;; esac; done
[ -z "$SLURM_CPUS_PER_TASK$SLURM_JOB_NAME" ] || exit 3; echo "8;cluster"`,
	"scancel": `cd "$SLURM"; echo scancel "$@" >> asked`,
}

// begun is a link of a chain that has begun.
type begun struct {
	t      *testing.T
	folder string
	cmd    *exec.Cmd
}

// newLink returns a link with a script, and with so many links left, before it begins.
func newLink(t *testing.T, script, left, refused string) *begun {
	t.Helper()
	dir := t.TempDir()
	b := &begun{t: t, folder: filepath.Join(dir, "abcdef")}
	path := filepath.Join(dir, "train.sh")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "#!/bin/sh\n#SBATCH --nodes=2\n# mine\n#SBATCH --output='my out'\n"+script+"\n#SBATCH --ignored\n")
	for name, text := range commands {
		write(filepath.Join(dir, name), "#!/bin/sh\n"+text+"\n")
	}
	write(filepath.Join(dir, "refused"), refused)
	l := link{ID: "abcdef", Folder: b.folder, Limit: 3600, Probs: probs(.9), Options: quoted([]string{"-n4", "--comment=it's mine"}), Arguments: quoted([]string{"a b"}), Script: filepath.Join(b.folder, "script")}
	if err := l.write(path); err != nil {
		t.Fatal(err)
	}
	b.cmd = exec.Command(filepath.Join(b.folder, "link"), left, "a b")
	b.cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM="+dir, "SLURM_JOB_ID=7", "SLURM_CPUS_PER_TASK=4", "SLURM_JOB_NAME=x", "SLURM_CONF=/etc/slurm.conf")
	return b
}

func (b *begun) read(name string) string {
	text, err := os.ReadFile(filepath.Join(b.folder, name))
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return string(text)
}

// asked returns what Slurm was asked for.
func (b *begun) asked() []string { return strings.Split(strings.TrimSpace(b.read("../asked")), "\n") }

// A link has the options in the head of the script, and submits the next one to be running at its
// own end, with a probability that is promised. If its work is done, the next one is cancelled.
func TestLink(t *testing.T) {
	const next = "-n4 --comment=it's mine FOLDER/link 2 a b"
	for _, c := range []struct {
		script, left, refused string
		next                  string   // the link after it, as of before it was requeued
		want                  []string // in what Slurm is asked, a line each
		done                  bool
	}{
		{"exit 3", "3", "", "", []string{"--prob=0.90 " + next}, false},
		{"exit 3", "3", "--prob=0.90", "", []string{"--prob=0.90 " + next, "--prob=0.75 " + next}, false},
		{"exit 3", "3", "--prob=0.90 --prob=0.75 --prob=0.50 --prob=0.25", "", []string{"--prob=0.90", "--prob=0.75", "--prob=0.50", "--prob=0.25", "sbatch --parsable --dependency=afterany:7 " + next}, false},
		{`[ "$1" = "a b" ]`, "3", "", "", []string{"--prob=0.90 " + next, "scancel 8"}, true},
		{"exit 3", "0", "", "", []string{""}, false},
		{"exit 3", "3", "", "9", []string{"scancel 9", "--prob=0.90 " + next}, false},
		{"exit 3", "3", "", "6", []string{""}, true}, // which works
	} {
		b := newLink(t, c.script, c.left, c.refused)
		if c.next != "" {
			for name, text := range map[string]string{"next.3": c.next + ";cluster\n", "links": "start 6 1000\n"} {
				if err := os.WriteFile(filepath.Join(b.folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if head := b.read("link"); !strings.HasPrefix(head, "#!/bin/sh\n#SBATCH --nodes=2\n#SBATCH --output='my out'\n\n# A link of chain abcdef") {
			t.Errorf("%s", head)
		}
		err := b.cmd.Run()
		if (err == nil) != c.done {
			t.Errorf("%+v: %v", c, err)
		}
		asked := b.asked()
		if len(asked) != len(c.want) {
			t.Errorf("%+v: %q", c, asked)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(asked[i], strings.ReplaceAll(want, "FOLDER", b.folder)) {
				t.Errorf("%+v: %q", c, asked[i])
			}
		}
		runs := parse(b.read("links"))
		if last := runs[len(runs)-1]; c.next != "6" && (last.job != 7 || last.end == 0 || last.done != c.done) {
			t.Errorf("%+v: %+v", c, runs)
		}
	}
}

// A script that was told to stop, and has saved its work, is not done.
func TestLinkStopped(t *testing.T) {
	b := newLink(t, "trap 'exit 0' USR1\necho > ready\nwhile :; do sleep .05; done", "3", "")
	b.cmd.Dir = filepath.Dir(b.folder)
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for b.read("../ready") == "" {
		time.Sleep(10 * time.Millisecond)
	}
	if err := b.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("%v", err)
	}
	if runs := parse(b.read("links")); len(runs) != 1 || runs[0].done || len(b.asked()) != 1 {
		t.Errorf("%+v, %q", runs, b.asked())
	}
}

// A chain that is stopped says what has become of its jobs, and is over when none is in the queue:
// one whose first link was cancelled, too. A job that ends meanwhile is no error.
func TestStop(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	write("squeue", "#!/bin/sh\ncd "+dir+" && cat queue\n")
	write("scancel", "#!/bin/sh\ncd "+dir+" && shift; for job; do sed -i \"s/^$job|PENDING/$job|CANCELLED/\" queue; done; ! grep -q '^5|' queue\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	var out strings.Builder
	env := &cli.Env{Stdout: &out, Stderr: &out, Zone: time.UTC, Now: func() int64 { return 2000 }, Getenv: func(string) string { return dir }}
	chain := filepath.Join("varq", "chains", "abcdef")
	write(filepath.Join(chain, "link"), "")
	for _, c := range []struct {
		queue, links string
		said, told   string
	}{
		{"7|PENDING\n", "limit 600\n", "job 7, which waited, is cancelled", ": over, and its first link never began"},
		{"", "limit 600\n", "no job of it runs or waits", ": over, and its first link never began"},
		{"7|RUNNING\n8|PENDING\n9|RUNNING\n", "start 7 1000\n", "job 8, which waited, is cancelled; job 7 goes on, and none comes after it", ""},
		// scancel fails
		{"7|COMPLETED\n8|PENDING\n5|PENDING\n", "start 7 1000\n", "job 8, which waited, is cancelled", ": over"},
		{"7|COMPLETED\n", "start 7 1000\nend 7 1100 1\n", "no job of it runs or waits", ": over"},
	} {
		write("queue", c.queue)
		write(filepath.Join(chain, "links"), c.links)
		write(filepath.Join(chain, "next.3"), "7\n")
		write(filepath.Join(chain, "next.2"), "8;cluster\n")
		stop := newStop(env)
		stop.SetArgs([]string{"abcdef"})
		if err := errors.Join(stop.ExecuteContext(t.Context()), list(t.Context(), env)); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if !strings.HasPrefix(out.String(), "chain abcdef is stopped: "+c.said+"\nchain abcdef"+c.told+"\n") {
			t.Errorf("%+v: %s", c, out.String())
		}
		out.Reset()
	}
	write("queue", "7|PENDING\n")
	write("scancel", "#!/bin/sh\necho denied >&2; exit 1\n")
	stop := newStop(env)
	stop.SetArgs([]string{"abcdef"})
	if err := stop.ExecuteContext(t.Context()); err == nil || err.Error() != "no link submits another any more, but one may wait: scancel: exit status 1: denied" {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	got := parse("limit 600\nstart 7 1000\nx\nend 7 1100 0 yes\nstart 8 1130\nstart 8 1200\nend 8 1300 0\nend 9 1400 0\nend 8 x\n")
	want := []run{{7, 1000, 1100, 600, false}, {8, 1130, 1300, 600, true}, {job: 8, start: 1200, limit: 600}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
