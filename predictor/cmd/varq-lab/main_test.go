package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/trial/study/all"
	"github.com/varq-project/varq/test/clitest"
	"github.com/varq-project/varq/test/golden"
)

// runLab implements the command varq-lab of the scripts.
func runLab(ts *testscript.TestScript, neg bool, args []string) {
	env := clitest.ScriptEnv(ts)
	code := execute(args, &env, toyStudies())
	if neg == (code == cli.ExitOK) {
		ts.Fatalf("exit code %d", code)
	}
}

// writeLog writes the log of 600 made-up jobs into a folder: plain, compressed, and
// compressed but truncated.
func writeLog(dir string) error {
	log, err := os.ReadFile(clitest.Log())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "log.swf"), log, 0o666); err != nil {
		return err
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(log); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cut.swf.gz"), zipped.Bytes()[:zipped.Len()/2], 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "log.swf.gz"), zipped.Bytes(), 0o666)
}

// sacctOutput has four jobs on 12 processors.
const sacctOutput = `JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|TimelimitRaw|ReqTRES|AllocTRES
11|alice|phys|main|normal|COMPLETED|1795000000|1795000000|1795000005|1795003605|120|cpu=4,mem=8G,node=1|cpu=8,mem=8G,node=1
12|bob|chem|main|normal|FAILED|1795000060|1795000060|1795000065|1795000125|60|cpu=4,node=1|cpu=4,node=1
13|alice|phys|gpu|high|TIMEOUT|1795000100|1795000100|1795000130|1795000730|10|cpu=4,node=1|cpu=4,node=1
14|carol|phys|main|normal|COMPLETED|1795000200|1795000200|1795003605|1795004000|60|cpu=8,node=1|cpu=8,node=1
`

func params(p testscript.Params) testscript.Params {
	p.Setup = setup
	p.UpdateScripts = golden.Update()
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){"varq-lab": runLab}
	return p
}

// setup writes the files that scripts and examples read.
func setup(env *testscript.Env) error {
	for name, text := range map[string]string{"sacct.txt": sacctOutput, "failures.csv": "node,down\nn1,1772323200\nn2,\n"} {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return writeLog(env.WorkDir)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, params(testscript.Params{Dir: "testdata"}))
}

// TestExamples runs every example that the help shows.
func TestExamples(t *testing.T) {
	root := newRoot(&cli.Env{}, toyStudies())
	clitest.Examples(t, root, params(testscript.Params{}), 10, func(line string) (string, bool) {
		// Commands run in the test's process, whose working directory is not the script's.
		for _, option := range []string{"--plot=", "--out=", "--trace=", "--schedule=", "--output=", "--failures="} {
			line = strings.ReplaceAll(line, option, option+"$WORK/")
		}
		switch {
		case !strings.HasPrefix(line, "varq-lab "): // sacct's side of a pipe
			return "cp sacct.txt stdin\n", false
		case strings.HasPrefix(line, "varq-lab trace "): // it prints what it found to stderr
			return line + "\n", true
		}
		return line + "\n! stderr .\n", true
	})
}

func TestExitCodes(t *testing.T) {
	for line, want := range map[string]int{
		"":                                     cli.ExitOK,
		"--help":                               cli.ExitOK,
		"version":                              cli.ExitOK,
		"nonsense":                             cli.ExitUsage,
		"simulate":                             cli.ExitUsage,
		"simulate compare --reservations=hard": cli.ExitUsage,
		"simulate --trace=/nowhere.swf":        cli.ExitFailed,
		"trace":                                cli.ExitFailed,
		"trace /nowhere.txt":                   cli.ExitFailed,
		"trace --output=log.txt":               cli.ExitUsage,
		"trace --procs=0":                      cli.ExitUsage,
		"study jones":                          cli.ExitUsage,
	} {
		var stdout, stderr bytes.Buffer
		got := execute(strings.Fields(line), &cli.Env{
			Stdin:   strings.NewReader(""),
			Stdout:  &stdout,
			Stderr:  &stderr,
			Getenv:  func(string) string { return "" },
			Elapsed: func() time.Duration { return clitest.Elapsed },
			Zone:    time.UTC,
		}, toyStudies())
		if got != want || (stderr.Len() > 0) == (want == cli.ExitOK) {
			t.Errorf("varq-lab %s: exit code %d, want %d\n%s", line, got, want, &stderr)
		}
	}
}

// An error is shown as a terminal may show it, whoever has written it.
func TestErrorsArePrintable(t *testing.T) {
	var stderr bytes.Buffer
	env := &cli.Env{Stdout: &bytes.Buffer{}, Stderr: &stderr, Getenv: func(string) string { return "" }}
	code := execute([]string{"trace", "/no\x1b[2Jwhere\r.txt"}, env, toyStudies())
	if code != cli.ExitFailed || !strings.Contains(stderr.String(), "/no?[2Jwhere?.txt") {
		t.Errorf("exit code %d: %q", code, stderr.String())
	}
}

//go:generate go test -count=1 -run=^TestManual$ . -update

// TestManual: the manual pages are those of the commands.
func TestManual(t *testing.T) {
	clitest.Manual(t, newRoot(&cli.Env{}, all.Studies()))
}

func TestHelp(t *testing.T) { clitest.Help(t, newRoot(&cli.Env{}, all.Studies())) }
