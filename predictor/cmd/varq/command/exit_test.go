package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/test/clitest"
)

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	server, err := startVarqd(socket, filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for line, want := range map[string]int{
		"":                             ExitOK,
		"--help":                       ExitOK,
		"version":                      ExitOK,
		"quote -t 60 --begin-by=17:00": ExitOK,
		"quote -t 60 --begin-by=17:00 --prob=.99":        ExitNo,
		"quote -t 60 --begin-by=17:00 --prob=.99 --json": ExitNo,
		"status 4711":                             ExitOK,
		"status 99":                               ExitNo,
		"status 99 --json":                        ExitNo,
		"quote":                                   ExitUsage,
		"quote --begin-by=yesternoon":             ExitUsage,
		"quote --begin-by=now-1hour":              ExitUsage,
		"quote --no-such-option":                  ExitUsage,
		"quote --begin-by=17:00 -t 3650-00":       ExitUsage,
		"report -S":                               ExitUsage,
		"report --calibration":                    ExitOK,
		"report --calibration --by=user":          ExitUsage,
		"report --plot=x.svg":                     ExitUsage,
		"nonsense":                                ExitUsage,
		"status --site=gamma":                     ExitUsage,
		"quote --begin-by=17:00 --site=gamma":     ExitUsage,
		"size --fit=cfd -S tomorrow":              ExitUsage,
		"simulate":                                ExitUsage,
		"simulate compare --trace=log.swf":        ExitUsage,
		"evaluate --help":                         ExitUsage,
		"trace log.txt":                           ExitUsage,
		"study downey":                            ExitUsage,
		"status -u root":                          ExitNo,
		"cancel aaaaaaaaaaaa":                     ExitOK,
		"cancel bbbbbbbbbbbb":                     ExitNo,
		"cancel 4711":                             ExitUsage,
		"accept":                                  ExitUsage,
		"accept 4712":                             ExitNo,
		"predict -t 60 -n0":                       ExitUsage,
		"predict -N 10000000000":                  ExitUsage,
		"predict -C " + strings.Repeat("a", 5000): ExitUsage,
		"predict -c 300000000":                    ExitUsage,
		"predict -N2-1":                           ExitUsage,
		"quote --begin-by=17:00 -N2-1":            ExitUsage,
		"quote -t 60 --begin-by=17:00 -n0":        ExitUsage,
		"quote -t 60 --begin-by=17:00 -c -1":      ExitUsage,
		"advise --cost=60s --interval=1h --since-last=9 --mtbf=1-0":        ExitOK,
		"advise --cost=60s --interval=1h --since-last=0 --mtbf=1-0 --json": ExitNo,
		"advise --cost=60s --interval=1h --nodes=2":                        ExitUsage,
		// Slurm has no such node
		"advise --cost=60s --interval=1h":      ExitFailed,
		"limits --endpoint=unix:///nowhere/at": ExitFailed,
		"nodes --endpoint=unix:///nowhere/at":  ExitFailed,
		"nodes --most=-1":                      ExitUsage,
		"nodes --calibration":                  ExitOK,
		"nodes --calibration --most=3":         ExitUsage,
		"nodes -S now-1day":                    ExitUsage,
		"nodes -N nosuch":                      ExitNo,
		"nodes -N node[1-":                     ExitUsage,
		"status --endpoint=unix:///nowhere/at": ExitFailed,
	} {
		var stdout, stderr bytes.Buffer
		got := Run(strings.Fields(line), Env{Env: cli.Env{
			Stdin:  strings.NewReader(""),
			Stdout: &stdout,
			Stderr: &stderr,
			Getenv: func(name string) string {
				return map[string]string{
					"VARQ_CONFIG": filepath.Join(dir, "varq.yaml"), "VARQ_ENDPOINT": "unix://" + socket,
					"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node9", "TMPDIR": dir,
				}[name]
			},
			Now:     func() int64 { return now },
			Elapsed: func() time.Duration { return clitest.Elapsed },
			Zone:    time.UTC,
		}})
		if got != want {
			t.Errorf("varq %s: exit code %d, want %d\n%s", line, got, want, &stderr)
		}
		// a refusal is an answer
		quiet := want == ExitOK || want == ExitNo && (strings.HasPrefix(line, "quote") || strings.HasPrefix(line, "advise"))
		if said := stderr.Len() > 0; said == quiet {
			t.Errorf("varq %s: exit code %d, standard error %q", line, got, &stderr)
		}
	}
}

// TestChoice: what a user of a terminal chooses is one of the numbers, or an error of the command
// line.
func TestChoice(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	server, err := startVarqd(socket, filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for choice, want := range map[string]int{"1": ExitOK, "": ExitOK, "99": ExitUsage, "0": ExitUsage, "one": ExitUsage} {
		if _, err := fmt.Fprintln(master, choice); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		got := Run(strings.Fields("quote -t 60 --finish-by=now+1day"), Env{Env: cli.Env{
			Stdin: terminal, Terminal: true, Stdout: &stdout, Stderr: &stderr,
			Getenv: func(name string) string {
				return map[string]string{"VARQ_CONFIG": filepath.Join(dir, "varq.yaml"), "VARQ_ENDPOINT": "unix://" + socket}[name]
			},
			Now: func() int64 { return now }, Elapsed: func() time.Duration { return clitest.Elapsed }, Zone: time.UTC,
		}})
		if got != want || (want == ExitUsage) != strings.Contains(stderr.String(), "is none of the numbers from 1 to") {
			t.Errorf("%q: exit code %d, want %d\n%s%s", choice, got, want, &stdout, &stderr)
		}
	}
}
