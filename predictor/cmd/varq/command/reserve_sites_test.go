package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// fakeSite is a site whose varqd and Slurm do what a test says. What it does not say goes well.
type fakeSite struct {
	probe, confirm, cancel, quote http.HandlerFunc
	// sbatch, squeue, scontrol and scancel are shell scripts. sbatch can use plan, which tells of
	// the promise, and job, which tells of the job.
	sbatch, squeue string
	// sites are those that have no varqd.
	sites []api.SiteState
}

// plan is the promise of all fake sites.
const plan = "aaaaaaaaaaaa"

// start serves the site, and returns its lines of varq.yaml.
func (f fakeSite) start(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for path, handlers := range map[string][2]http.HandlerFunc{
		api.PathProbe:      {f.probe, sound},
		api.PathConfirm:    {f.confirm, done},
		api.PathCancel:     {f.cancel, done},
		api.PathGroupQuote: {f.quote, http.NotFound},
	} {
		handler := handlers[0]
		if handler == nil {
			handler = handlers[1]
		}
		mux.HandleFunc("POST "+path, handler)
	}
	// as nothing that is a varqd does
	mux.HandleFunc("GET "+api.PathHealth, text(http.StatusOK, "{}"))
	mux.HandleFunc("GET "+api.PathSites, func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, f.sites) })
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	if f.sbatch == "" {
		f.sbatch = "plan; job"
	}
	for command, script := range map[string]string{
		"sbatch": `report=$(echo "$VARQ_RESERVE" | sed 's/.*"report":"\([^"]*\)".*/\1/')
case $VARQ_RESERVE in *describe*) echo '{"request":{"job":{"nodes":2,"cpus":2,"limit":3600},"begin_by":` + fmt.Sprint(now+14400) + `}}' >>$report; exit 1;; esac
plan() { echo '{"plan":{"id":"` + plan + `","begin_by":` + fmt.Sprint(now+10800) + `,"work_limit":3600}}' >>$report; }
job() { echo '{"job":7}' >>$report; echo Submitted batch job 7; }
` + f.sbatch,
		"squeue":   "cat " + dir + "/job || { " + f.squeue + "; }",
		"scontrol": "", "slurm.conf": "",
		"scancel": "echo '7|CANCELLED||varq:" + plan + "' >" + dir + "/job",
	} {
		if err := os.WriteFile(filepath.Join(dir, command), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("  - {name: %s, endpoint: 'unix://%s', slurm_conf: '%s/slurm.conf', bin: '%s'}\n", name, socket, dir, dir)
}

// sound answers a probe with one slot in three hours.
func sound(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, api.ProbeAnswer{Slots: []api.Slot{soundSlot()}, Unit: "billing-hours"})
}

func soundSlot() api.Slot {
	return api.Slot{Partition: "main", Start: now + 10800, End: now + 14400, Nodes: 2, Limit: 3600, Prob: .9, Estimate: .97, Cost: 4}
}

func done(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

// text answers with a text.
func text(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}
}

// fault answers with an error of varqd's.
func fault(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { reply(w, status, api.Error{Error: text}) }
}

// hangUp ends the connection without an answer, as a varqd does that is killed.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// never does not answer.
func never(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// outcome is what varq reserve --json tells.
type outcome struct {
	broker.Outcome
	Sites []broker.Answer
}

// clock returns a clock that begins at now, and goes.
func clock() func() int64 {
	began := time.Now()
	return func() int64 { return now + int64(time.Since(began).Seconds()) }
}

// TestReserveSites: what users are told of a site that answers garbage, late, twice or never, of
// one that has refused, and of a hold that has expired. The other site, which is good, is taken
// then.
func TestReserveSites(t *testing.T) {
	t.Parallel() // it waits for sites that do not answer
	slots := func(change func(s *api.Slot)) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			s := soundSlot()
			change(&s)
			reply(w, http.StatusOK, api.ProbeAnswer{Slots: []api.Slot{s}, Unit: "billing-hours"})
		}
	}
	turn := 0
	var wait sync.WaitGroup
	for name, c := range map[string]struct {
		bad    fakeSite
		had    bool   // by the bad site
		probe  string // its error when it is asked
		why    string // its slot could not be had
		stderr string
		code   int
	}{
		"well":                 {had: true},
		"probe garbage":        {bad: fakeSite{probe: text(200, "\x00<html>")}, probe: "varqd at unix://BAD answers what is not an answer: invalid character '\\x00' looking for beginning of value"},
		"probe cut":            {bad: fakeSite{probe: text(200, `{"slots":[{"par`)}, probe: "varqd at unix://BAD answers what is not an answer: unexpected end of JSON input"},
		"probe escapes":        {bad: fakeSite{probe: fault(400, "no\x1b[2J")}, probe: "no?[2J"},
		"probe unknown":        {bad: fakeSite{probe: text(404, "404 page not found")}, probe: "varqd answers 404 Not Found"},
		"probe hangs up":       {bad: fakeSite{probe: hangUp}, probe: "varqd is not reachable at unix://BAD: EOF"},
		"probe never answered": {bad: fakeSite{probe: never}, probe: "varqd is not reachable at unix://BAD: no answer within 10s; it may be busy, so ask again in a moment"},
		"slot outside":         {bad: fakeSite{probe: slots(func(s *api.Slot) { s.Start, s.End = now+15000, now+18600 })}, probe: "1 of its slots make no sense: it is not in the window"},
		"slot of other nodes":  {bad: fakeSite{probe: slots(func(s *api.Slot) { s.Nodes = 64 })}, probe: "1 of its slots make no sense: nobody asked for 64 nodes"},
		"slot twice": {bad: fakeSite{probe: func(w http.ResponseWriter, _ *http.Request) {
			reply(w, http.StatusOK, api.ProbeAnswer{Slots: []api.Slot{soundSlot(), soundSlot()}, Unit: "billing-hours"})
		}}, had: true},
		"refused": {
			bad: fakeSite{sbatch: `echo '{"refusal":{"reason":"the limit allows 1 job"}}' >>$report; exit 1`},
			why: "the limit allows 1 job",
		},
		"sbatch fails": {
			bad: fakeSite{sbatch: "plan; echo 'sbatch: error: Batch job submission failed: Invalid account' >&2; exit 1"},
			why: "the cluster reserves nothing: sbatch: Batch job submission failed: Invalid account",
		},
		"sbatch without varq": {
			bad: fakeSite{sbatch: "echo Submitted batch job 7"},
			why: "the cluster reserves nothing: sbatch has not asked varq about the job: either an option keeps it from submitting one (--help, --usage, --version), or its cluster has no varq, or an older one (varq doctor tells)",
		},
		"sbatch tells garbage": {
			bad: fakeSite{sbatch: `printf '\000{"job":-1}\n{"pla' >>$report; echo 'sbatch: error: killed' >&2; exit 1`},
			why: "the cluster reserves nothing: sbatch: killed",
		},
		"another slot": {
			bad: fakeSite{sbatch: `echo '{"plan":{"id":"` + plan + `","begin_by":` + fmt.Sprint(now+7200) + `,"work_limit":60}}' >>$report; job`},
			why: "the cluster promises another slot: a start by 2026-11-21T15:00:00Z, for 00:01:00 of work",
		},
		"the hold has expired": {
			bad: fakeSite{confirm: fault(http.StatusConflict, "the promise was not confirmed in time, and is taken back")},
			why: "the promise was not confirmed in time, and is taken back",
		},
		"confirmed at the second time": {
			bad: fakeSite{confirm: func(w http.ResponseWriter, r *http.Request) {
				if turn++; turn == 1 {
					hangUp(w, r)
				}
				done(w, r)
			}},
			had: true,
		},
		// a status is all that is asked for
		"garbage for a confirmation": {bad: fakeSite{confirm: text(200, "\x00\x00")}, had: true},
		"varqd is gone, and Slurm cancels the job": {
			bad: fakeSite{confirm: hangUp, cancel: hangUp, squeue: "echo '7|PENDING||varq:" + plan + "'"},
			why: "the cluster reserves nothing: job 7 is cancelled, as nobody has confirmed its promise: varqd is not reachable at unix://BAD: EOF",
		},
		"varqd is gone, and the job runs": {
			bad: fakeSite{confirm: hangUp, cancel: hangUp, squeue: "echo '7|RUNNING|node1|varq:" + plan + "'"},
			had: true,
		},
		"varqd and Slurm are gone": {
			bad: fakeSite{confirm: hangUp, cancel: hangUp, squeue: "exit 1"},
			stderr: "varq: cluster bad has job 7, but does not answer, so that nobody knows whether it is reserved: varqd is not reachable at unix://BAD: EOF; " +
				"as soon as varqd answers there, 'varq status --site=bad 7' tells, and if it was not confirmed the job is cancelled by itself\n" +
				"Is it running? 'systemctl status varqd' on its host tells. Is it elsewhere?\n" +
				"Say where by --endpoint, VARQ_ENDPOINT, or client.endpoint in CONFIG.\n",
			code: ExitFailed,
		},
	} {
		bad, good := c.bad.start(t, "bad"), fakeSite{}.start(t, "good")
		config := filepath.Join(t.TempDir(), "varq.yaml")
		if err := os.WriteFile(config, []byte("sites:\n"+bad+good), 0o644); err != nil {
			t.Fatal(err)
		}
		wait.Go(func() { // not by t.Run: they mostly wait, more of them than there are processors
			var out, errs bytes.Buffer
			code := Run([]string{"reserve", "--json", "--clusters=all", "--latest=2026-11-21T17:00:00", "--patience=5s", "--", "sbatch", "job.sh"}, Env{Env: cli.Env{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: clock(), Zone: time.UTC,
				Getenv: func(name string) string { return map[string]string{"VARQ_CONFIG": config}[name] },
			}})
			_, socket, _ := strings.Cut(bad, "unix://")
			socket, _, _ = strings.Cut(socket, "'")
			plain := strings.NewReplacer(socket, "BAD", config, "CONFIG")
			if stderr := plain.Replace(errs.String()); stderr != c.stderr || code != c.code {
				t.Errorf("%s: exit code %d, %s\nwant %d, %s", name, code, stderr, c.code, c.stderr)
			}
			if code != ExitOK {
				return
			}
			var told outcome
			if err := json.Unmarshal(out.Bytes(), &told); err != nil {
				t.Errorf("%s: %v: %s", name, err, &out)
				return
			}
			want, why := "good", ""
			if c.had {
				want = "bad"
			}
			if len(told.Tried) > 0 {
				why = plain.Replace(told.Tried[0].Why)
			}
			if probe := plain.Replace(told.Sites[0].Error); told.Taken.Site != want || told.Taken.Job != 7 || why != c.why || probe != c.probe {
				t.Errorf("%s: job %d at %s; %q; asked: %q", name, told.Taken.Job, told.Taken.Site, why, probe)
			}
		})
	}
	wait.Wait()
}

// No site has a slot: each says why.
func TestReserveNowhere(t *testing.T) {
	nothing := func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, api.ProbeAnswer{Reasons: []string{"the limit allows 1 job", "no\x1b[2J"}})
	}
	bad, good := fakeSite{probe: hangUp}.start(t, "bad"), fakeSite{probe: nothing}.start(t, "good")
	config := filepath.Join(t.TempDir(), "varq.yaml")
	if err := os.WriteFile(config, []byte("sites:\n"+bad+good), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := Run([]string{"reserve", "--clusters=all", "--latest=2026-11-21T17:00:00", "--json", "--", "sbatch", "job.sh"}, Env{Env: cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: clock(), Zone: time.UTC,
		Getenv: func(name string) string { return map[string]string{"VARQ_CONFIG": config}[name] },
	}})
	var told struct {
		Sites []struct{ Site, Error string }
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil || code != ExitNo || errs.Len() > 0 || len(told.Sites) != 2 || !strings.Contains(told.Sites[0].Error, "EOF") {
		t.Errorf("exit code %d, %v: %s%s", code, err, &out, &errs)
	}
}

func TestPatience(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "varq.yaml")
	if err := os.WriteFile(config, []byte("sites:\n"+fakeSite{}.start(t, "good")), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "request.yaml")
	if err := os.WriteFile(file, []byte("patience: 4s\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const between = " is not between 00:00:05 and 00:10:00"
	for args, want := range map[string]string{
		"--patience=4s": "00:00:04" + between,
		// in Slurm's formats a number is one of minutes
		"--patience=11":                      "00:11:00" + between,
		"--patience=-1m":                     "-00:01:00" + between,
		"--patience=soon":                    `"soon" is not a duration such as 6h or 06:00:00`,
		"--file=" + file:                     "00:00:04" + between,
		"--file=" + file + " --patience=10m": "",
		"--patience=5s":                      "",
	} {
		var out, errs bytes.Buffer
		line := append([]string{"reserve", "--clusters=all", "--latest=2026-11-21T17:00:00"}, strings.Fields(args)...)
		code := Run(append(line, "--", "sbatch", "job.sh"), Env{Env: cli.Env{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: clock(), Zone: time.UTC,
			Getenv: func(name string) string { return map[string]string{"VARQ_CONFIG": config}[name] },
		}})
		if want != "" {
			if strings.HasPrefix(args, "--file=") {
				want = "--file: " + file + ":1: --patience: " + want
			} else {
				want = "--patience: " + want
			}
			want = "varq: " + want + "\nTry 'varq reserve --help'.\n"
		}
		if errs.String() != want || (code == ExitUsage) != (want != "") {
			t.Errorf("%s: exit code %d: %swant %s", args, code, &errs, want)
		}
	}
}

// A group whose latest start passes while sites are asked is told by the option, and not by the
// field of the API.
func TestGroupTooLate(t *testing.T) {
	t.Parallel()
	late := fakeSite{quote: fault(http.StatusBadRequest, "deadline: it is in the past"), probe: func(w http.ResponseWriter, _ *http.Request) {
		slot := soundSlot()
		slot.Start, slot.End = slot.Start+3600, slot.End+3600
		reply(w, http.StatusOK, api.ProbeAnswer{Slots: []api.Slot{slot}, Unit: "EUR"})
	}}
	config := filepath.Join(t.TempDir(), "varq.yaml")
	if err := os.WriteFile(config, []byte("sites:\n"+late.start(t, "alpha")), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, errs := runBare(config, "reserve", "--any-of", "--dry-run", "--clusters=alpha", "--latest=2026-11-21T17:00:00", "--", "sbatch", "job")
	if errs != "varq: --latest: 2026-11-21T17:00:00 has passed meanwhile: give a later time\n" {
		t.Error(errs)
	}
}

// A site that answers, and refuses, can be reached. What it says is told beside its name, which is
// there once.
func TestRefusingSite(t *testing.T) {
	t.Parallel()
	const why = "site alpha may not ask for user bob here"
	for answer, want := range map[string]struct {
		status int
		line   string
		stderr string
	}{
		why:                                      {http.StatusForbidden, "REFUSED " + why, "varq: cluster beta: " + why + "\n"},
		"site beta: varqd is not reachable at x": {http.StatusServiceUnavailable, "UNREACHABLE varqd is not reachable at x", "varq: cluster beta: varqd is not reachable at x\n"},
	} {
		socket := filepath.Join(t.TempDir(), "s")
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: fault(want.status, answer)}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { server.Close() })
		_, bin, _ := strings.Cut(fakeSite{}.start(t, "beta"), "slurm_conf")
		config := filepath.Join(t.TempDir(), "varq.yaml")
		if err := os.WriteFile(config, []byte("sites:\n  - {name: beta, endpoint: 'unix://"+socket+"', slurm_conf"+bin), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, errs := runBare(config, "sites", "--format=State,Note%60", "--noheader")
		if code != ExitOK || strings.Join(strings.Fields(out), " ") != want.line {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
		if code, out, errs = runBare(config, "reserve", "--clusters=beta", "--latest=2026-11-21T17:00:00", "--", "sbatch", "job"); code != ExitNo || !strings.HasPrefix(errs, want.stderr) {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
	}
}

// What answers, and says nothing, is not a varqd; users are told so.
func TestEmptySite(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "varq.yaml")
	if err := os.WriteFile(config, []byte("sites:\n"+fakeSite{probe: text(http.StatusOK, "{}")}.start(t, "beta")), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := runBare(config, "sites", "--format=State,Note%80", "--noheader")
	if code != ExitOK || !strings.HasPrefix(strings.Join(strings.Fields(out), " "), "TROUBLE what it answers is not how a varqd is") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	code, out, errs = runBare(config, "reserve", "--clusters=beta", "--latest=2026-11-21T17:00:00", "--", "sbatch", "job")
	if code != ExitNo || !strings.HasPrefix(errs, "varq: cluster beta: it answers with neither slots nor a reason") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}
