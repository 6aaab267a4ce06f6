package alone

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm/program"
	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/slurm/squeue"
	"github.com/varq-project/varq/predictor/workload"
)

// epoch is the time at which each test begins: 2027-01-15T08:00:00 in UTC.
const epoch = 1_800_000_000

// lab is a cluster of which Slurm's commands tell, with a clock.
type lab struct {
	t       testing.TB
	folder  string
	clock   int64
	private bool     // whether alice sees her own jobs only, and no nodes
	down    error    // of every command
	asked   []string // the commands that ran, with the last of their arguments
	f       *Forecaster
	said    string // by f when sacct, or a command that failed, ran last
}

func newLab(t testing.TB) *lab { return &lab{t: t, folder: t.TempDir(), clock: epoch} }

// forecaster returns alice's.
func (l *lab) forecaster() *Forecaster {
	l.t.Helper()
	f, err := New(Options{
		Folder: l.folder, User: "alice", Slurm: NewCommands(program.Sparing{Folder: l.folder, Now: func() time.Time { return time.Unix(l.clock, 0) }, Run: l.run}),
		Now: func() int64 { return l.clock }, Zone: time.UTC, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.f = f
	return f
}

// run is a program.Runner.
func (l *lab) run(_ context.Context, path string, _ []string, args ...string) ([]byte, error) {
	last := args[len(args)-1]
	l.asked = append(l.asked, path+" "+last)
	if l.down != nil {
		l.said = fmt.Sprint(l.f.Health().Notes)
		return nil, l.down
	}
	switch {
	case path == "squeue":
		return []byte(l.queue()), nil
	case path == "sacct":
		l.said = fmt.Sprint(l.f.Health().Notes)
		return []byte(l.past()), nil
	case last == "config":
		text := "ClusterName = lab\nSelectType = select/cons_tres\n"
		if l.private {
			text += "PrivateData = jobs,nodes\n"
		}
		return []byte(text), nil
	case last == "partition":
		return []byte("PartitionName=main Default=YES DefaultTime=01:00:00 MaxTime=1-00:00:00 MaxNodes=UNLIMITED Nodes=node[1-4] OverSubscribe=NO State=UP TotalCPUs=32\n"), nil
	case last == "node" && l.private:
		return nil, errors.New("slurm_load_node error: Access/permission denied")
	case last == "node":
		var text strings.Builder
		for i := range 4 {
			fmt.Fprintf(&text, "NodeName=node%d CPUTot=8 RealMemory=8000 State=ALLOCATED Partitions=main CfgTRES=cpu=8,mem=8000M\n", i+1)
		}
		return []byte(text.String()), nil
	}
	return nil, nil
}

// past returns what sacct prints: 400 jobs, which have waited ten minutes or so.
func (l *lab) past() string {
	var text strings.Builder
	text.WriteString(strings.Join(append(slices.Clone(sacct.Fields), "Constraints", "Reason"), "|") + "\n")
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 400 {
		user := []string{"alice", "bob"}[i%2]
		if l.private && user != "alice" {
			continue
		}
		submit := epoch - 3600*24*3 + 600*i
		start := submit + 300 + random.IntN(600)
		fmt.Fprintf(&text, "%d|%s|phys|main|normal|COMPLETED|%d|%d|%d|%d|60|cpu=8,mem=1000M,node=1|cpu=8,mem=1000M,node=1||None\n", 1000+i, user, submit, submit, start, start+1200)
	}
	return text.String()
}

// queue returns what squeue prints: four jobs that run, one on each node, and two that wait.
func (l *lab) queue() string {
	var text strings.Builder
	for i := range 6 {
		is := map[string]string{
			"JobID": fmt.Sprint(1400 + i), "ArrayTaskID": "N/A", "UserName": []string{"bob", "alice"}[i%2], "Account": "phys", "Partition": "main", "QOS": "normal",
			"State": "RUNNING", "Reason": "None", "PriorityLong": fmt.Sprint(5000 - i), "SubmitTime": fmt.Sprint(epoch - 1800 + 60*i), "EligibleTime": fmt.Sprint(epoch - 1800 + 60*i), "StartTime": fmt.Sprint(epoch - 900),
			"TimeLimit": "1:00:00", "NumNodes": "1", "NumCPUs": "8", "tres-alloc": "cpu=8,mem=1000M,node=1", "NodeList": fmt.Sprintf("node%d", i+1), "OverSubscribe": "OK", "BatchFlag": "1", "Name": "job",
		}
		if i >= 4 {
			is["State"], is["Reason"], is["StartTime"], is["NodeList"] = "PENDING", "Priority", "N/A", ""
		}
		if l.private && is["UserName"] != "alice" {
			continue
		}
		text.WriteString(squeue.Line(is))
	}
	return text.String()
}

// ask asks f, and reads the answer unless that is an error, which it returns.
func (l *lab) ask(f *Forecaster, path string, question, answer any) error {
	l.t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		l.t.Fatal(err)
	}
	method := http.MethodPost
	if question == nil {
		method = http.MethodGet
	}
	w := httptest.NewRecorder()
	f.routes().ServeHTTP(w, httptest.NewRequest(method, path, bytes.NewReader(body)))
	if w.Code != http.StatusOK {
		var e api.Error
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
			l.t.Fatal(err)
		}
		return fmt.Errorf("%d: %s", w.Code, e.Error)
	}
	if err := json.Unmarshal(w.Body.Bytes(), answer); err != nil {
		l.t.Fatal(err)
	}
	return nil
}

// count returns how often a command has run since the last count.
func (l *lab) count() map[string]int {
	n := map[string]int{}
	for _, a := range l.asked {
		name, _, _ := strings.Cut(a, " ")
		n[name]++
	}
	l.asked = nil
	return n
}

// A user learns when her job starts, from what Slurm's commands tell, and Slurm is asked little.
func TestWhen(t *testing.T) {
	l := newLab(t)
	f := l.forecaster()
	if h := f.Health(); h.OK || len(h.Problems) > 0 || len(h.Notes) != 1 {
		t.Errorf("%+v", h)
	}
	var when api.When
	if err := l.ask(f, api.PathWhen, api.WhenQuery{}, &when); err == nil || !strings.HasPrefix(err.Error(), "503: ") {
		t.Error(err)
	}
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := f.Health(); !h.OK || h.History < 400 || len(h.Notes) > 0 {
		t.Errorf("%+v", h)
	}
	if n := l.count(); n["squeue"] != 1 || n["sacct"] != 1 || n["scontrol"] != 5 {
		t.Errorf("at first: %v", n)
	}
	for range 10 {
		if err := l.ask(f, api.PathWhen, api.WhenQuery{}, &when); err != nil {
			t.Fatal(err)
		}
	}
	if len(when.Jobs) != 1 || when.Jobs[0].Job != 1405 || when.Jobs[0].Start == nil || when.Jobs[0].Unknown != "" || when.Jobs[0].Ahead != 1 || when.AsOf != l.clock {
		t.Errorf("%+v", when)
	} else if at := when.Jobs[0].Start.Median; at < epoch || at > epoch+3600 {
		t.Errorf("it starts at %d", at)
	}
	if n := l.count(); len(n) != 0 {
		t.Errorf("within a minute: %v", n)
	}
	l.clock += 60
	if err := l.ask(f, api.PathWhen, api.WhenQuery{User: api.Everybody}, &when); err != nil || len(when.Jobs) != 2 || when.AsOf != l.clock {
		t.Error(when, err)
	}
	if n := l.count(); n["squeue"] != 1 || len(n) != 1 {
		t.Errorf("a minute later: %v", n)
	}
	// While slurmctld does not answer, what it has told serves on, and the user reads so.
	l.down = errors.New("slurmctld is away")
	l.clock += 60
	if err := l.ask(f, api.PathWhen, api.WhenQuery{}, &when); err != nil || len(when.Jobs) != 1 || when.AsOf != l.clock-60 {
		t.Error(when, err)
	}
	if h := f.Health(); !h.OK || len(h.Notes) != 1 || !strings.Contains(h.Notes[0], "slurmctld is away") {
		t.Errorf("%+v", h)
	}
	l.down = nil
	l.clock += 60
	if err := l.ask(f, api.PathWhen, api.WhenQuery{}, &when); err != nil || when.AsOf != l.clock || len(f.Health().Notes) > 0 {
		t.Error(when, err)
	}
	l.count()
	// Few jobs come in the week that it has asked for, so that it asks for more.
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := l.count(); n["squeue"] != 0 || n["sacct"] != 1 || n["scontrol"] != 0 || f.ingest.Days != mostDays {
		t.Errorf("a minute later: %v, %d days", n, f.ingest.Days)
	}
	l.clock += between
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := l.count(); n["squeue"] != 1 || n["sacct"] != 1 || n["scontrol"] != 5 || f.ingest.Days != mostDays {
		t.Errorf("ten minutes later: %v, %d days", n, f.ingest.Days)
	}
	var p api.Prediction
	if err := l.ask(f, api.PathPredict, api.PredictRequest{Job: workload.Request{Partition: "main", Limit: 3600, Size: workload.Size{Nodes: 1, CPUs: 8}}}, &p); err != nil || p.Bounds[0].Expected == nil || p.Bounds[0].Seconds != nil {
		t.Error(p, err)
	}
	// A quote is what could be promised, if anybody promised anything.
	var quote api.PlanAnswer
	if err := l.ask(f, api.PathQuote, api.PlanRequest{Job: workload.Request{Partition: "main", Limit: 3600, Size: workload.Size{Nodes: 1, CPUs: 8}}, BeginBy: l.clock + 7200, Prob: .5}, &quote); err != nil || quote.Plan == nil || quote.Plan.ID != "" {
		t.Error(quote.Refusal, err)
	}
	if err := l.ask(f, api.PathPlan, api.PlanRequest{}, &quote); err == nil || !strings.Contains(err.Error(), "no varqd") {
		t.Error(err)
	}
	if err := l.ask(f, api.PathWhen, "x", &when); err == nil || !strings.HasPrefix(err.Error(), "400: ") {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// The next process begins with the past that this one has read, and asks for the rest alone.
func TestNextProcess(t *testing.T) {
	l := newLab(t)
	f := l.forecaster()
	if _, err := New(f.Options); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") {
		t.Error(err)
	}
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	l.count()
	l.clock += 30
	f = l.forecaster()
	defer f.Close()
	if err := f.advance(t.Context()); err != nil && !errors.Is(err, program.ErrSpared) {
		t.Fatal(err)
	}
	if n := l.count(); len(n) != 0 {
		t.Errorf("half a minute later: %v", n)
	}
	var when api.When
	if err := l.ask(f, api.PathWhen, api.WhenQuery{}, &when); err != nil || len(when.Jobs) != 1 || when.Jobs[0].Start == nil || when.AsOf != epoch {
		t.Error(when, err)
	}
	l.clock += retryAfter
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := l.count(); n["sacct"] != 1 || n["squeue"] != 0 || n["scontrol"] != 0 {
		t.Errorf("a minute later: %v", n)
	}
}

// Of a long past, the next process soon answers by the newest jobs, and learns the others then.
func TestSoon(t *testing.T) {
	l := newLab(t)
	l.write(soon, 20)
	defer l.forecaster().Close()
	for _, want := range []struct {
		past  int
		note  string
		err   error
		pause int64
	}{{soon, "it still learns from the past before: 0 %", nil, breath}, {soon + 400, "", program.ErrSpared, retryAfter}} {
		err := l.f.advance(t.Context())
		if pause := l.f.pause(err); !errors.Is(err, want.err) || pause != want.pause {
			t.Errorf("%v, and a pause of %d s", err, pause)
		}
		if h := l.f.Health(); !h.OK || h.History != want.past+4 || strings.Join(h.Notes, "") != want.note {
			t.Errorf("%+v", h)
		}
		job := workload.Request{Partition: "main", Limit: 3600, Size: workload.Size{Nodes: 1, CPUs: 8}}
		var p api.Prediction
		if err := l.ask(l.f, api.PathPredict, api.PredictRequest{Job: job}, &p); err != nil || p.Learning != (want.note != "") {
			t.Errorf("%+v, %v", p, err)
		}
		for _, q := range []api.PlanRequest{{Job: job, BeginBy: l.clock + 7*day, Prob: .1}, {Job: job, FinishBy: l.clock + 7*day, Prob: .1}} {
			var a api.PlanAnswer
			if err := l.ask(l.f, api.PathQuote, q, &a); err != nil || a.Plan == nil || a.Plan.Learning != (want.note != "") {
				t.Errorf("%+v, %v", a.Refusal, err)
			}
		}
	}
}

// A past that cannot be read is read from accounting again, and one that cannot be written, too, by
// the next process. The user reads so.
func TestNoPast(t *testing.T) {
	for name, c := range map[string]struct {
		ruin       func(past string) error
		said, note string
	}{
		"truncated": {func(past string) error { return os.Truncate(past, 10_000) }, "what was known of past jobs cannot be read, and is now ", ""},
		"no SQLite": {func(past string) error { return os.WriteFile(past, make([]byte, 10_000), 0o600) }, "what was known of past jobs cannot be read, and is now ", ""},
		"empty":     {func(past string) error { return os.Truncate(past, 0) }, "asks accounting for the jobs", ""},
		"no file": {func(past string) error { return errors.Join(os.Remove(past), os.Mkdir(past, 0o700)) }, "asks accounting for the jobs",
			"what it knows of the past is in memory, and is asked for again once it has ended: "},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.write(soon, 20)
			if err := c.ruin(pastOf(l.folder)); err != nil {
				t.Fatal(err)
			}
			defer l.forecaster().Close()
			if err := l.f.advance(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := l.count(); n["sacct"] != 1 || !strings.Contains(l.said, c.said) {
				t.Errorf("%v, and it says %s", n, l.said)
			}
			if h := l.f.Health(); !h.OK || h.History < 400 || !strings.HasPrefix(strings.Join(h.Notes, ""), c.note) || (c.note == "") != (len(h.Notes) == 0) {
				t.Errorf("%+v", h)
			}
		})
	}
}

// A process that begins after a long time does not ask for all that is between.
func TestLongAfter(t *testing.T) {
	l := newLab(t)
	f := l.forecaster()
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	l.clock += 200 * day
	f = l.forecaster()
	defer f.Close()
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c, err := f.cache.Coverage(t.Context()); err != nil || !c.Complete || c.Since != l.clock-mostDays*day {
		t.Error(c, err)
	}
}

// What Slurm keeps from the user is said.
func TestPrivate(t *testing.T) {
	l := newLab(t)
	l.private = true
	f := l.forecaster()
	defer f.Close()
	if err := f.advance(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := f.Health(); len(h.Notes) != 3 || !strings.Contains(h.Notes[0], "PrivateData=nodes") || !strings.Contains(h.Notes[1], "PrivateData=jobs") || !strings.Contains(h.Notes[2], "accounting shows") {
		t.Errorf("%+v", h)
	}
	f.others = true // slurmdbd.conf may keep nothing private
	if h := f.Health(); len(h.Notes) != 2 || !strings.Contains(h.Notes[1], "squeue shows you no jobs but your own (PrivateData=jobs)") || strings.Contains(h.Notes[1], "others") {
		t.Errorf("%+v", h)
	}
	f.others = false
	var when api.When
	if err := l.ask(f, api.PathWhen, api.WhenQuery{User: api.Everybody}, &when); err != nil || len(when.Jobs) != 1 {
		t.Error(when, err)
	}
	if when.Jobs[0].Start == nil {
		t.Errorf("%+v", when)
	}
	f.premises.Limits().PrivateJobs = false // only slurmdbd.conf has it
	if h := f.Health(); len(h.Notes) != 2 || !strings.Contains(h.Notes[1], "accounting shows you no past jobs but your own") {
		t.Errorf("%+v", h)
	}
}

// While Slurm does not answer it is asked no more often than once a minute, and the user reads why.
func TestDown(t *testing.T) {
	l := newLab(t)
	l.down = errors.New("slurmctld is away")
	f := l.forecaster()
	defer f.Close()
	for range 3 {
		if err := f.note(f.advance(t.Context())); err == nil {
			t.Error("it answers")
		}
	}
	if h := f.Health(); len(l.asked) != 1 || h.OK || len(h.Problems) != 1 || !strings.Contains(h.Problems[0], "slurmctld is away") {
		t.Error(l.asked, h)
	}
	l.clock += retryAfter
	if err := f.advance(t.Context()); err == nil || len(l.asked) != 2 || l.said != "[asks Slurm for its nodes]" {
		t.Error(err, l.asked, l.said)
	}
	l.down = &exec.Error{Name: "scontrol", Err: exec.ErrNotFound}
	l.clock += 301
	if err := f.Follow(t.Context()); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}

// The process ends when nobody has asked for long.
func TestIdle(t *testing.T) {
	l := newLab(t)
	f := l.forecaster()
	defer f.Close()
	l.clock += idle
	if err := f.Follow(t.Context()); err != nil || len(l.asked) > 0 {
		t.Error(err, l.asked)
	}
}

// Of how many days accounting is asked follows from how fast the ids of jobs grow.
func TestDays(t *testing.T) {
	l := newLab(t)
	f := l.forecaster()
	defer f.Close()
	for _, c := range []struct{ ids, seconds, want int64 }{
		{100, 599, unknownDays}, {99, 3600, unknownDays}, {1000, 86400, 50}, {1000, 10 * 86400, 60}, {100_000, 86400, 1}, {10_000, 86400, 5},
	} {
		line := func(id, at int64) string {
			return squeue.Line(map[string]string{"JobID": fmt.Sprint(id), "SubmitTime": fmt.Sprint(at), "State": "PENDING", "Partition": "main"})
		}
		queue, err := (&squeue.Command{Run: func(context.Context, string, []string, ...string) ([]byte, error) {
			return []byte(line(5000, epoch-c.seconds) + line(5000+c.ids, epoch)), nil
		}}).Queue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.take(queue, epoch)
		if got := f.estimate(); got != int(c.want) {
			t.Errorf("%d ids in %d s: %d days, want %d", c.ids, c.seconds, got, c.want)
		}
	}
}
