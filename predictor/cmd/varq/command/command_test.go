package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/doctor"
	"github.com/varq-project/varq/test/clitest"
	"github.com/varq-project/varq/test/golden"
)

// runVarq implements the command varq of the scripts. Its output is a terminal if the script says
// how wide that is, by the variable TERMINAL_WIDTH.
func runVarq(ts *testscript.TestScript, neg bool, args []string) {
	env := clitest.ScriptEnv(ts)
	env.Now = func() int64 { return now }
	env.Width, _ = strconv.Atoi(ts.Getenv("TERMINAL_WIDTH"))
	env.Terminal = env.Width != 0
	code := Run(args, Env{
		Env:  env,
		Host: func(context.Context, string) []doctor.Finding { return toyHost(ts.Getenv("HOST_LACKS")) },
		Serve: func(_ context.Context, address string, handler func(net.Addr) http.Handler) error {
			at, err := net.ResolveTCPAddr("tcp", strings.Replace(address, "node7", "localhost", 1))
			if err == nil {
				handler(at)
			}
			return err
		},
		Sacct: func(_ context.Context, path string, variables []string, args ...string) ([]byte, error) {
			words := slices.Concat([]string{path}, variables, args)
			if err := os.WriteFile(ts.MkAbs("sacct.args"), []byte(strings.Join(words, "\n")+"\n"), 0o666); err != nil {
				return nil, err
			}
			return os.ReadFile(ts.MkAbs("runs.txt"))
		},
		Alone: toyAlone{"unix://" + ts.Getenv("SOCKET")},
	})
	if neg == (code == ExitOK) {
		ts.Fatalf("exit code %d", code)
	}
}

// toyAlone is a user whose own forecaster is the fake varqd at an endpoint.
type toyAlone struct{ endpoint string }

func (a toyAlone) Dial(context.Context, func(string)) (*client.Client, error) {
	return client.New(a.endpoint, "")
}

func (a toyAlone) Shadow(ctx context.Context, q api.ShadowQuery, _ func(string)) (api.Shadow, error) {
	own, err := a.Dial(ctx, nil)
	if err != nil {
		return api.Shadow{}, err
	}
	return own.Shadow(ctx, q)
}

// toyHost are the findings of a host that lacks one thing, or nothing.
func toyHost(lacks string) []doctor.Finding {
	findings := []doctor.Finding{{Of: "munge", Verdict: doctor.OK, Found: "it works"}}
	if lacks != "" {
		findings = append(findings, doctor.Finding{Of: lacks, Verdict: doctor.Failure, Found: "not there", Remedy: "install it"})
	}
	return findings
}

// pastRuns has eight runs of one program, on 2 to 8 nodes, that completed, one that ran into its
// limit and one that runs.
const pastRuns = `JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|TimelimitRaw|ReqTRES|AllocTRES
21|alice|phys|main|normal|COMPLETED|1794000000|1794000000|1794000005|1794007205|240|cpu=2,node=2|cpu=2,node=2
22|alice|phys|main|normal|COMPLETED|1794010000|1794010000|1794010005|1794017805|240|cpu=2,node=2|cpu=2,node=2
23|alice|phys|main|normal|COMPLETED|1794020000|1794020000|1794020005|1794024105|240|cpu=4,node=4|cpu=4,node=4
24|alice|phys|main|normal|TIMEOUT|1794030000|1794030000|1794030005|1794033605|60|cpu=4,node=4|cpu=4,node=4
25|alice|phys|main|normal|COMPLETED|1794040000|1794040000|1794040005|1794043705|240|cpu=4,node=4|cpu=4,node=4
26|alice|phys|main|normal|COMPLETED|1794050000|1794050000|1794050005|1794053805|240|cpu=4,node=4|cpu=4,node=4
27|alice|phys|main|normal|COMPLETED|1794060000|1794060000|1794060005|1794062105|240|cpu=8,node=8|cpu=8,node=8
28|alice|phys|main|normal|COMPLETED|1794070000|1794070000|1794070005|1794072005|240|cpu=8,node=8|cpu=8,node=8
29|alice|phys|main|normal|COMPLETED|1794080000|1794080000|1794080005|1794082305|240|cpu=8,node=8|cpu=8,node=8
30|alice|phys|main|normal|RUNNING|1794090000|1794090000|1794090005|Unknown|240|cpu=8,node=8|cpu=8,node=8
`

// requestFile is a request of varq reserve.
const requestFile = `latest: "17:00"
sizes: 4:2h,8:1h10m
prefer: nodes
command: [sbatch, job.sh]
`

func params(p testscript.Params) testscript.Params {
	p.Setup = setup
	p.UpdateScripts = golden.Update()
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){"varq": runVarq}
	return p
}

// setup starts a fake varqd for one script. VARQ_ENDPOINT is its address, and it writes the
// requests into the file asked.
func setup(env *testscript.Env) error {
	// The path of a test's own folder may be too long for the name of a socket.
	dir, err := os.MkdirTemp("", "varq")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "varqd.sock")
	server, err := startVarqd(socket, filepath.Join(env.WorkDir, "asked"))
	if err != nil {
		return err
	}
	env.Defer(func() { _ = server.Close() })
	env.Setenv("SOCKET", socket)
	env.Setenv("VARQ_ENDPOINT", "unix://"+socket)
	env.Setenv("VARQ_CONFIG", filepath.Join(env.WorkDir, "varq.yaml"))
	for name, text := range map[string]string{"request.yaml": requestFile,
		"varq.yaml": fmt.Sprintf("sites:\n  - {name: alpha, endpoint: 'unix://%s'}\n  - {name: beta, endpoint: 'unix://%[1]s'}\n  - {name: gamma, endpoint: 'unix://%[1]s'}\nledger: {path: %s}\n", socket, filepath.Join(env.WorkDir, "ledger.db")),
		"runs.txt":  pastRuns} {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	if err := errors.Join(writeSeries(env.WorkDir), writeChain(env.WorkDir)); err != nil {
		return err
	}
	ledger, err := toyLedger()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(env.WorkDir, "ledger.db"), ledger, 0o600); err != nil {
		return err
	}
	return nil
}

// tried begins an sbatch that only describes the job, if it is asked to: without options that end
// it, and with one word that is not an option.
const tried = `case "$* $VARQ_RESERVE" in
*--help*) exit ;;
*describe*)
	echo '{"request":{"job":{}},"arguments":1}' >> "$(echo "$VARQ_RESERVE" | sed 's/.*"report":"\([^"]*\)".*/\1/')"
	exit 1 ;;
esac
`

// writeSeries writes the series aaaaaa of varq every, with four occurrences, of which the last has
// fakeVarqd's job 4711, and bbbbbb, with none; varq every run has run now. Their sbatch and
// scancel write what they are asked into bin/asked, and a varq there promises a flow. Beside it is
// an sbatch that is refused.
func writeSeries(dir string) error {
	every, bin, refused := filepath.Join(dir, "state", "varq", "every"), filepath.Join(dir, "bin"), filepath.Join(dir, "refused")
	if err := errors.Join(os.MkdirAll(every, 0o700), os.Mkdir(bin, 0o700), os.Mkdir(refused, 0o700)); err != nil {
		return err
	}
	const series = `{"id": %q, "schedule": "06:00 daily", "prob": ".95", "ahead": 43200, "sbatch": %q, "args": ["job.sh"], "dir": "/", "made": %d, "occurrences": [%s]}`
	const occurrences = `{"at": 1795068000, "state": "KEPT", "job": 4601}, {"at": 1795154400, "state": "MISSED", "note": "varq: refused"},
		{"at": 1795240800, "state": "MISSED", "note": "varq: refused"}, {"at": 1795327200, "state": "PENDING", "job": 4711}`
	sbatch := filepath.Join(bin, "sbatch")
	const program = "#!/bin/sh\n" + tried + "echo \"$*\" >> \"$(dirname \"$0\")/asked\"\necho 4711\n"
	return errors.Join(
		os.WriteFile(filepath.Join(every, "aaaaaa.json"), fmt.Appendf(nil, series, "aaaaaa", sbatch, now-300_000, occurrences), 0o600),
		os.WriteFile(filepath.Join(every, "bbbbbb.json"), fmt.Appendf(nil, series, "bbbbbb", sbatch, now, ""), 0o600),
		os.WriteFile(filepath.Join(every, "aaaaaa-1795327200.reports"), []byte(`{"plan": {"id": "abcdefgh4711"}}`), 0o600),
		os.WriteFile(filepath.Join(every, "last-run"), fmt.Appendln(nil, now), 0o600),
		os.WriteFile(sbatch, []byte(program), 0o700),
		os.WriteFile(filepath.Join(bin, "scancel"), []byte(program), 0o700),
		os.WriteFile(filepath.Join(bin, "varq"), []byte("#!/bin/sh\necho '{\"promised\": {\"id\": \"flow\", \"jobs\": [4712]}}'\n"), 0o700),
		os.WriteFile(filepath.Join(refused, "sbatch"), []byte("#!/bin/sh\n"+tried+"echo 'varq: refused: the queue is long' >&2\nexit 1\n"), 0o700),
	)
}

// writeChain writes the chain abcdef, of which the second link runs, a script for another one, and
// a flow of one job.
func writeChain(dir string) error {
	chain := filepath.Join(dir, "state", "varq", "chains", "abcdef")
	return errors.Join(
		os.MkdirAll(chain, 0o700), os.WriteFile(filepath.Join(chain, "link"), nil, 0o700),
		os.WriteFile(filepath.Join(chain, "links"), fmt.Appendf(nil, "start 4700 %d\nend 4700 %d 143 yes\nstart 4701 %d\n", now-90_000, now-3600, now-3540), 0o600),
		os.WriteFile(filepath.Join(dir, "prepare.yaml"), []byte("jobs: [{name: prepare, sbatch: prepare.sh}]\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "train.sh"), []byte("#!/bin/sh\n#SBATCH --nodes=2\ntrue\n"), 0o700),
	)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, params(testscript.Params{Dir: "testdata"}))
}

// TestExamples runs every example that the help shows.
func TestExamples(t *testing.T) {
	root := newRoot(&Env{Env: cli.Env{Now: func() int64 { return now }, Zone: time.UTC}}, new(link.Link))
	clitest.Examples(t, root, params(testscript.Params{}), 15, func(line string) (string, bool) {
		if !strings.HasPrefix(line, "varq ") { // what is done between commands of varq
			return "", false
		}
		// Commands run in the test's process, whose working directory is not the script's.
		line = strings.NewReplacer("--plot=", "--plot=$WORK/", "--file=", "--file=$WORK/", "backup.db", "$WORK/backup.db", " train.sh", " $WORK/train.sh", "-- varq flow", "-- $WORK/bin/varq flow", "nightly.yaml", "$WORK/prepare.yaml").Replace(line)
		return line + "\n! stderr .\n", true
	})
}
