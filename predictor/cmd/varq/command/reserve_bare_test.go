package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/broker"
)

// bareSites writes a varq.yaml with the site own, whose varqd answers probes, and bare, which has
// none. The commands of bare append what they are asked for to the file calls.
func bareSites(t *testing.T, own fakeSite, scontrol string) (config, calls string) {
	t.Helper()
	if own.probe == nil {
		own.probe = func(w http.ResponseWriter, r *http.Request) {
			var req api.ProbeRequest
			if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
				t.Error(err)
			}
			slot := soundSlot()
			if req.Site == "bare" {
				slot.Prob, slot.Estimate, slot.Method, slot.Cost = .99, .99, "load", 1
			}
			reply(w, http.StatusOK, api.ProbeAnswer{Slots: []api.Slot{slot}, Unit: "EUR"})
		}
	}
	line := own.start(t, "own")
	_, socket, _ := strings.Cut(line, "unix://")
	socket, _, _ = strings.Cut(socket, "'")
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	for name, script := range map[string]string{
		"sbatch":   `echo "7|PENDING||$(echo "$@" | sed 's/.*--comment=\([^ ]* *varq:[a-z0-9]*\|[^ ]*\).*/\1/')" >job; echo Submitted batch job 7`,
		"squeue":   "cat job",
		"scontrol": scontrol,
		"scancel":  "sed -i s/PENDING/CANCELLED/ job",
	} {
		text := "#!/bin/sh\ncd " + dir + "\necho " + name + " $VARQ_SITE $VARQ_NODES $VARQ_TIME \"$@\" >>calls\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config = filepath.Join(dir, "varq.yaml")
	text := "client: {endpoint: 'unix://" + socket + "'}\nsites:\n" + line +
		fmt.Sprintf("  - {name: bare, slurmrestd: {url: 'http://bare:6820'}, late: 1h, slurm_conf: '%s', bin: '%s'}\n", config, dir)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return config, calls
}

func runBare(config string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Run(args, Env{Env: cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: clock(), Zone: time.UTC,
		Getenv: func(name string) string { return map[string]string{"VARQ_CONFIG": config}[name] },
	}})
	return code, out.String(), errs.String()
}

// A site without varqd gets a job on trial, which is then taken; it is said that nobody promises
// it.
func TestReserveBare(t *testing.T) {
	t.Parallel()
	config, calls := bareSites(t, fakeSite{}, "")
	reserve := []string{"reserve", "--clusters=all", "--latest=2026-11-21T17:00:00", "--prefer=cost"}
	job := []string{"--", "sbatch", "--output=x"}
	code, out, errs := runBare(config, append(append(reserve, "--dry-run"), job...)...)
	if want := `Cluster Partition RunningBy           EndsBy              Nodes     Time Prob Estimate Cost     Method
------- --------- ------------------- ------------------- ----- -------- ---- -------- -------- ------
bare    main      2026-11-21T16:00:00 2026-11-21T17:00:00     2 01:00:00 0.99     0.99 1.00 EUR load
own     main      2026-11-21T16:00:00 2026-11-21T17:00:00     2 01:00:00 0.90     0.97 4.00 EUR varq
`; code != ExitOK || out != want || errs != "" {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	code, out, errs = runBare(config, append(reserve, job...)...)
	if want := "Submitted batch job 7 on cluster bare\n" +
		"reserved, not promised: bare, partition main; 2 nodes for up to 01:00:00; running from 2026-11-21T16:00:00 with an estimated probability of 0.99 (method load); in all no more than 1.00 EUR\n" +
		"next best: own, partition main; 2 nodes for up to 01:00:00; running by 2026-11-21T16:00:00 with probability 0.90 (estimate 0.97); in all no more than 4.00 EUR\n"; code != ExitOK || out != want || errs != "" {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "sbatch bare 2 3600 --output=x --begin=uts1795280430 --deadline=uts1795284000 --time=01:00:00 --comment=varq:") ||
		!strings.HasSuffix(lines[0], " --partition=main") || lines[2] != "scontrol update JobId=7 StartTime=uts1795276800" {
		t.Errorf("%q", lines)
	}
}

// Whatever the site's Slurm does, the next best slot is taken and nothing is left.
func TestReserveBareFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scontrol string
		left     string // the job as it is left
	}{
		"it cannot be confirmed": {"case \"$*\" in *StartTime=uts1795276800*) exit 1;; esac", "7|CANCELLED||"},
		"it is over":             {"", "7|DEADLINE||"},
	} {
		config, calls := bareSites(t, fakeSite{}, c.scontrol)
		if strings.Contains(c.left, "DEADLINE") {
			sbatch := filepath.Join(filepath.Dir(calls), "sbatch")
			text, err := os.ReadFile(sbatch)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(sbatch, bytes.ReplaceAll(text, []byte("PENDING"), []byte("DEADLINE")), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		code, out, errs := runBare(config, "reserve", "--json", "--clusters=all", "--latest=2026-11-21T17:00:00", "--prefer=cost", "--patience=5s", "--", "sbatch", "job.sh")
		var told outcome
		if err := json.Unmarshal([]byte(out), &told); err != nil || code != ExitOK || told.Taken.Site != "own" || len(told.Tried) != 1 {
			t.Errorf("%s: exit code %d, %v: %s%s", name, code, err, out, errs)
		}
		left, err := os.ReadFile(filepath.Join(filepath.Dir(calls), "job"))
		if err != nil || !strings.HasPrefix(string(left), c.left) {
			t.Errorf("%s: %s is left, %v", name, left, err)
		}
	}
}

// How old what is known of a site is, is told with its slots, once they are taken as well.
func TestReserveBareOld(t *testing.T) {
	t.Parallel()
	const note = "it is judged by its queue as it was 90 s ago: its slurmrestd has not answered for 90 s"
	config, _ := bareSites(t, fakeSite{probe: func(w http.ResponseWriter, _ *http.Request) {
		slot := soundSlot()
		slot.Method = "load"
		reply(w, http.StatusOK, api.ProbeAnswer{Slots: []api.Slot{slot}, Unit: "EUR", Read: now - 90, Note: note})
	}}, "")
	reserve := []string{"reserve", "--clusters=bare", "--latest=2026-11-21T17:00:00", "--sizes=2:1h"}
	for _, more := range []string{"--dry-run", "--prefer=end"} {
		code, _, errs := runBare(config, append(append([]string{}, reserve...), more, "--", "sbatch", "job.sh")...)
		if code != ExitOK || errs != "varq: cluster bare: "+note+"\n" {
			t.Errorf("%s: exit code %d: %s", more, code, errs)
		}
		code, out, errs := runBare(config, append(append([]string{}, reserve...), more, "--json", "--", "sbatch", "job.sh")...)
		var told outcome
		if err := json.Unmarshal([]byte(out), &told); err != nil || code != ExitOK || len(told.Sites) != 1 || told.Sites[0].Note != note || told.Sites[0].Read != now-90 || errs != "" {
			t.Errorf("%s --json: exit code %d, %v: %s%s", more, code, err, out, errs)
		}
	}
}

// A site whose Slurm stops while it is asked to submit is tried once, whatever slots it has, and
// what it may have accepted is dropped as soon as it answers, or told of.
func TestReserveBareSilent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		squeue string
		json   bool
		left   string // the job as it is left
		told   bool
	}{
		"it stays so":                {squeue: "exec sleep 99", left: "7|PENDING||", told: true},
		"it stays so, told as JSON":  {squeue: "exec sleep 99", left: "7|PENDING||", told: true, json: true},
		"it answers soon":            {squeue: "[ -e asked ] || { touch asked; exec sleep 99; }", left: "7|CANCELLED||"},
		"it answers before it works": {squeue: "echo x >>looks; [ $(wc -l <looks) != 1 ] || exit 0", left: "7|CANCELLED||"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, calls := bareSites(t, fakeSite{probe: func(w http.ResponseWriter, _ *http.Request) {
				a := api.ProbeAnswer{Unit: "EUR"}
				for i := range int64(4) {
					slot := soundSlot()
					slot.Start, slot.End, slot.Method = slot.Start-i*600, slot.End-i*600, "load"
					a.Slots = append(a.Slots, slot)
				}
				reply(w, http.StatusOK, a)
			}}, "")
			dir := filepath.Dir(calls)
			for program, script := range map[string]string{
				"sbatch": `echo "7|PENDING||$(echo "$@" | sed 's/.*\(varq:[a-z0-9]*\).*/\1/')" >job; exec sleep 99`,
				"squeue": `case "$*" in *--me*) ` + c.squeue + `; cut -d'|' -f1,4 job;; *) cat job;; esac`,
			} {
				text := "#!/bin/sh\ncd " + dir + "\necho " + program + " \"$@\" >>calls\n" + script + "\n"
				if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"reserve", "--clusters=bare", "--latest=2026-11-21T17:00:00", "--sizes=2:1h", "--patience=5s"}
			if c.json {
				args = append(args, "--json")
			}
			code, out, errs := runBare(config, append(args, "--", "sbatch", "job.sh")...)
			text, err := os.ReadFile(calls)
			if err != nil || code != ExitNo || strings.Count(string(text), "sbatch ") != 1 {
				t.Errorf("exit code %d, %v: %s%s\n%s", code, err, out, errs, text)
			}
			job, err := os.ReadFile(filepath.Join(dir, "job"))
			if err != nil || !strings.HasPrefix(string(job), c.left) {
				t.Errorf("%s is left, %v", job, err)
			}
			plan := strings.TrimSpace(string(job[len(c.left):]))
			warning := "varq: cluster bare may show a job that cannot run (its comment has " + plan + "), which its Slurm cancels at about 2026-11-21T16:30:30: scancel it if you like\n"
			if strings.Contains(errs, warning) != (c.told && !c.json) {
				t.Errorf("%s\nwant %s", errs, warning)
			}
			var told struct{ Left []broker.Left }
			if c.json && (json.Unmarshal([]byte(out), &told) != nil || len(told.Left) != 1 || told.Left[0] != (broker.Left{Site: "bare", Plan: strings.TrimPrefix(plan, "varq:"), Until: now + 10800 - 1800 + 3630})) {
				t.Errorf("%s", out)
			}
		})
	}
}

// Groups need a varqd, and so do the other commands.
func TestBareRefused(t *testing.T) {
	t.Parallel()
	config, _ := bareSites(t, fakeSite{}, "")
	for args, want := range map[string]string{
		"reserve --any-of --clusters=all --latest=2026-11-21T17:00:00 -- sbatch job.sh": "varq: --any-of: cluster bare has no varqd, which would let its job begin or give up beside the others: leave it out of --clusters\n",
		"reserve --all-of --clusters=own,bare --latest=2026-11-21T17:00:00 -- sbatch x": "varq: --all-of: cluster bare has no varqd, which would let its job begin or give up beside the others: leave it out of --clusters\n",
		"reserve --clusters=bare --latest=2026-11-21T17:00:00 -- sbatch -N1 : -N1 job":  "varq: the job is heterogeneous, and a reservation is of one job: submit its components apart, or without varq\n",
		"status --site=bare": "varq: --site: cluster bare has no varqd: only varq reserve and varq sites know it\n",
	} {
		if code, out, errs := runBare(config, strings.Fields(args)...); code == ExitOK || !strings.HasPrefix(errs, want) {
			t.Errorf("%s: exit code %d: %s%s", args, code, out, errs)
		}
	}
}

// The list of sites tells of one without varqd what this cluster's varqd knows of it.
func TestBareSites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state api.SiteState
		word  string
		note  string
	}{
		{api.SiteState{Site: "bare", Method: "load", OK: true, Since: now - 3600}, "OK", "no varqd; estimates by load; its slurmrestd answers since 2026-11-21T12:00:00"},
		{api.SiteState{Site: "bare", Method: "static"}, "UNKNOWN", "no varqd; estimates by static; its slurmrestd was not asked yet"},
		{api.SiteState{Site: "bare", Method: "history", Since: now, Error: "no route"}, "UNREACHABLE", "no varqd; estimates by history; its slurmrestd does not answer as it should since 2026-11-21T13:00:00: no route"},
		{api.SiteState{Site: "other"}, "UNREACHABLE", "it has no varqd, and that of this cluster does not know it: its varq.yaml must have it, with slurmrestd"},
	} {
		config, _ := bareSites(t, fakeSite{sites: []api.SiteState{c.state}}, "")
		code, out, errs := runBare(config, "sites", "-M", "bare", "--format=State,Note")
		lines := strings.Split(out, "\n")
		if code != ExitOK || len(lines) < 3 || strings.Join(strings.Fields(lines[2]), " ") != c.word+" "+c.note {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
	}
}
