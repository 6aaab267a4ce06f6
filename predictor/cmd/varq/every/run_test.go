package every

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// fakeSbatch writes what it is given into the file asked, a line each time, and answers as the file
// answer, a shell script, says.
const fakeSbatch = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
echo "$*" >> asked
n=$(wc -l < asked)
report=$(echo "$VARQ_RESERVE" | sed 's/.*"report":"\([^"]*\)".*/\1/')
promised() { echo '{"plan":{"id":"'"$1"'"}}' >> "$report"; }
. ./answer
`

// fakeVarqd knows reservations and flows.
type fakeVarqd struct {
	list  []api.Reservation
	flows []api.FlowPromise
	down  bool
}

func (f *fakeVarqd) Flows(context.Context, api.FlowsQuery) (api.Flows, error) {
	if f.down {
		return api.Flows{}, errors.New("varqd is not reachable")
	}
	return api.Flows{Flows: f.flows}, nil
}

func (f *fakeVarqd) Reservations(_ context.Context, q api.ReservationsQuery) (found []api.Reservation, err error) {
	if f.down {
		return nil, errors.New("varqd is not reachable")
	}
	for _, r := range f.list {
		if (q.Job == 0 || q.Job == r.Job) && r.BeginBy >= q.Start && (q.End == 0 || r.BeginBy < q.End) {
			found = append(found, r)
		}
	}
	return found, nil
}

// fixture is a runner with a series "Mon-Fri 06:00" and a clock.
type fixture struct {
	*runner
	t     *testing.T
	dir   string
	clock int64
	varqd *fakeVarqd
	news  []string
}

func start(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), clock: saturday, varqd: &fakeVarqd{}}
	store, err := openStore(filepath.Join(f.dir, "every"), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.close)
	turn, err := store.takeTurn(t.Context(), 0, holder{Host: "login1", Kernel: "1"}, func() int64 { return f.clock })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { turn.lock.Close() })
	f.runner = &runner{
		store: store, varqd: f.varqd, now: func() int64 { return f.clock }, zone: time.UTC, host: time.UTC, environ: cleaned(os.Environ()), turn: turn,
		tell: func(format string, args ...any) { f.news = append(f.news, fmt.Sprintf(format, args...)) },
	}
	f.write("sbatch", fakeSbatch)
	f.answers(`promised "plan$n"; echo $((100 + n))`)
	f.write("scancel", "#!/bin/sh\necho \"$*\" > $(dirname $0)/cancelled\n")
	s := &Series{ID: "aaaaaa", Schedule: "Mon-Fri 06:00", Prob: ".95", Ahead: 86400, Program: filepath.Join(f.dir, "sbatch"), Args: []string{"-N4", "job.sh"}, Dir: f.dir, Made: saturday}
	if err := store.save(s); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o700); err != nil {
		f.t.Fatal(err)
	}
}

// answers says what sbatch does: a script, in which $n is how often it was called, and $report
// where varq-filter's reports go.
func (f *fixture) answers(script string) { f.write("answer", script+"\n") }

// at sets the clock and runs once, as a new process would.
func (f *fixture) at(clock string) (well bool, err error) {
	f.t.Helper()
	moment, failed := time.Parse("2006-01-02T15:04", clock)
	if failed != nil {
		f.t.Fatal(failed)
	}
	f.clock, f.news = moment.Unix(), nil
	all, broken := f.store.list()
	if broken != nil {
		f.t.Fatal(broken)
	}
	return f.all(f.t.Context(), all)
}

// want compares the occurrences on disk with "DAY STATE JOB", and how often sbatch was called.
func (f *fixture) want(calls int, want ...string) *Series {
	f.t.Helper()
	s, err := f.store.load("aaaaaa")
	if err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, o := range s.Occurrences {
		got = append(got, fmt.Sprint(time.Unix(o.At, 0).UTC().Format("Jan02"), " ", o.State, " ", o.Job))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		f.t.Errorf("occurrences %v, want %v", got, want)
	}
	asked, _ := os.ReadFile(filepath.Join(f.dir, "asked"))
	if n := strings.Count(string(asked), "\n"); n != calls {
		f.t.Errorf("sbatch was called %d times, want %d: %s", n, calls, asked)
	}
	return s
}

func (f *fixture) wantWell(clock string) {
	f.t.Helper()
	if well, err := f.at(clock); !well || err != nil || len(f.news) > 0 {
		f.t.Errorf("at %s: %v, %v, news %q", clock, well, err, f.news)
	}
}

func (f *fixture) wantNews(clock, want string) {
	f.t.Helper()
	if well, err := f.at(clock); well || err != nil || len(f.news) != 1 || !strings.Contains(f.news[0], want) {
		f.t.Errorf("at %s: %v, %v, news %q, want %q", clock, well, err, f.news, want)
	}
}

// Each occurrence is reserved once, a day ahead, and followed until it is settled.
func TestEachIsReservedOnce(t *testing.T) {
	f := start(t)
	f.wantWell("2026-11-21T13:00") // Saturday
	f.want(0)
	f.wantWell("2026-11-22T06:00")
	f.wantWell("2026-11-22T06:00")
	f.wantWell("2026-11-22T07:00")
	f.want(1, "Nov23 PENDING 101")
	if asked, err := os.ReadFile(filepath.Join(f.dir, "asked")); err != nil || string(asked) != fmt.Sprintf("--parsable --begin-by=uts%d --prob=.95 -N4 job.sh\n", monday) {
		t.Errorf("%q, %v", asked, err)
	}
	f.varqd.list = []api.Reservation{reserved("plan1", 101, api.StateKept), reserved("of another job", 101, api.StateMissed)}
	f.wantWell("2026-11-23T06:30")
	f.want(2, "Nov23 KEPT 101", "Nov24 PENDING 102")
	f.varqd.list = append(f.varqd.list, api.Reservation{Plan: api.Plan{ID: "plan2", BeginBy: monday + 86400}, Job: 102, State: api.StateMissed})
	f.varqd.list[2].Note = "not started by the deadline"
	if _, err := f.at("2026-11-24T06:30"); err != nil || len(f.news) != 1 || f.news[0] != "series aaaaaa, 2026-11-24T06:00:00: MISSED: not started by the deadline" {
		t.Errorf("%v, %q", err, f.news)
	}
	f.wantWell("2026-11-24T07:30")
	f.want(3, "Nov23 KEPT 101", "Nov24 MISSED 102", "Nov25 PENDING 103")
}

// A refusal is told once, tried again until its time, and keeps no later one from being reserved.
func TestRefusals(t *testing.T) {
	f := start(t)
	f.answers("echo 'varq: refused: the queue is long' >&2; exit 1")
	f.wantNews("2026-11-22T06:00", "2026-11-23T06:00:00: REFUSED: varq: refused: the queue is long")
	f.wantWell("2026-11-22T07:00")
	f.want(2, "Nov23 REFUSED 0")
	f.answers("promised plan3; echo '103;alpha'")
	f.wantWell("2026-11-22T08:00")
	f.want(3, "Nov23 PENDING 103")

	f.answers("echo 'varq: refused' >&2; exit 1")
	f.wantNews("2026-11-23T06:00", "2026-11-24T06:00:00: REFUSED")
	f.answers("echo 105")
	f.varqd.list = []api.Reservation{reserved("plan3", 103, api.StateKept)}
	f.wantNews("2026-11-24T06:01", "2026-11-24T06:00:00: MISSED: varq: refused")
	f.want(5, "Nov23 KEPT 103", "Nov24 MISSED 0", "Nov25 PENDING 105")
}

// What came to pass while nobody called varq every run is missed, and told.
func TestNobodyRan(t *testing.T) {
	f := start(t)
	f.wantNews("2026-11-23T07:00", "2026-11-23T06:00:00: MISSED: 'varq every run' did not run in time")
	f.want(1, "Nov23 MISSED 0", "Nov24 PENDING 101")
}

// monday is the first occurrence of the fixture's series, 2026-11-23T06:00:00 UTC.
const monday = saturday + 41*3600

// reserved returns a reservation for monday.
func reserved(plan string, job int64, state string) api.Reservation {
	return api.Reservation{Plan: api.Plan{ID: plan, BeginBy: monday}, Job: job, State: state, Promised: monday - 86400}
}

// others are the user's own jobs for monday, and that of another series, promised before and after
// any of the series' own.
func others() []api.Reservation {
	return []api.Reservation{reserved("byhand", 44, api.StatePending), reserved("another", 45, api.StatePending), reserved("abroad", 0, api.StatePromised)}
}

// killed leaves what a varq every run leaves that is killed while sbatch runs, for which plans were
// made.
func (f *fixture) killed(plans ...string) {
	f.t.Helper()
	s := f.want(0)
	s.Occurrences = []Occurrence{{At: monday, State: StateSubmitting, Tried: monday - 86400}}
	if _, err := f.store.order(s.ID, monday); err != nil {
		f.t.Fatal(err)
	}
	if err := f.store.save(s); err != nil {
		f.t.Fatal(err)
	}
	o := sbatch.Order{Report: f.store.path(reportsOf(s.ID, monday))}
	for _, plan := range plans {
		if err := o.Tell(sbatch.Report{Plan: &api.Plan{ID: plan}}); err != nil {
			f.t.Fatal(err)
		}
	}
}

// An sbatch of which nobody saw the end has submitted its job, or not: there are not two jobs, and
// not none.
func TestKilledWhileSubmitting(t *testing.T) {
	for _, submitted := range []bool{true, false} {
		f := start(t)
		f.killed("ours")
		f.answers("echo 200")
		f.varqd.down = true
		if _, err := f.at("2026-11-22T07:00"); err == nil || !strings.Contains(err.Error(), "what became of the sbatch for 2026-11-23T06:00:00 is not known yet: varqd is not reachable") {
			t.Errorf("%v", err)
		}
		f.want(0, "Nov23 SUBMITTING 0")
		f.varqd.down = false
		f.varqd.list = append(others(), reserved("ours", 0, api.StatePromised))
		f.wantWell("2026-11-22T08:00")
		f.want(0, "Nov23 SUBMITTING 0")
		if submitted {
			f.varqd.list[3] = reserved("ours", 9, api.StatePending)
			f.wantWell("2026-11-22T09:00")
			f.want(0, "Nov23 PENDING 9")
		} else {
			f.varqd.list[3] = reserved("ours", 0, api.StateCancelled)
			f.wantWell("2026-11-22T09:00")
			f.want(1, "Nov23 PENDING 200")
		}
	}
}

// Without a plan sbatch has submitted nothing: no job beside is taken for the series', and none is
// cancelled with it.
func TestOthersAreLeftAlone(t *testing.T) {
	f := start(t)
	f.killed()
	f.varqd.list = others()
	if jobs, err := f.cancel(t.Context(), f.want(0, "Nov23 SUBMITTING 0")); jobs != 0 || err != nil {
		t.Error(jobs, err)
	}
	if _, err := os.Stat(filepath.Join(f.dir, "cancelled")); err == nil {
		t.Error("a job is cancelled")
	}
	// the lock and the turn
	if entries, err := os.ReadDir(f.store.dir); err != nil || len(entries) != 2 {
		t.Error(entries, err)
	}

	f = start(t)
	f.killed()
	f.varqd.down = true // which need not be asked
	f.answers("echo 200")
	f.wantWell("2026-11-22T08:00")
	f.want(1, "Nov23 PENDING 200")
}

// An sbatch that fails after it had its plan may have submitted the job: it was killed, or Slurm's
// answer was lost.
func TestFailedAfterThePlan(t *testing.T) {
	f := start(t)
	f.answers(`echo '{"plan":{"id":"ours"}}' >> "$report"; kill -9 $$`)
	f.varqd.list = append(others(), reserved("ours", 0, api.StatePromised))
	f.wantNews("2026-11-22T06:00", "2026-11-23T06:00:00: REFUSED: sbatch: signal: killed")
	f.wantWell("2026-11-22T07:00")
	s := f.want(1, "Nov23 SUBMITTING 0")
	f.varqd.list[3] = reserved("ours", 9, api.StatePending)
	f.wantWell("2026-11-22T08:00")
	f.want(1, "Nov23 PENDING 9")
	if _, err := os.Stat(f.store.path(reportsOf(s.ID, monday))); err != nil {
		t.Error(err)
	}
	f.varqd.list[3].State = api.StateKept
	f.answers("echo 102")
	f.wantWell("2026-11-23T07:00")
	f.want(2, "Nov23 KEPT 9", "Nov24 PENDING 102")
	if _, err := os.Stat(f.store.path(reportsOf(s.ID, monday))); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A clock that was ahead for a while, as of a host that has no time yet when it starts, keeps
// nothing from being reserved.
func TestClockAhead(t *testing.T) {
	f := start(t)
	f.answers("exit 1")
	if well, err := f.at("2031-06-02T07:00"); well || err != nil {
		t.Error(well, err)
	}
	f.answers("echo $((100 + n))")
	f.wantWell("2026-11-22T06:00")
	f.want(2, "Nov23 PENDING 102")
	// A job that was reserved by such a clock stays, and those before it are reserved, too.
	if _, err := f.at("2026-12-06T06:00"); err != nil {
		t.Error(err)
	}
	f.wantWell("2026-11-23T06:00")
	f.want(4, "Nov23 PENDING 102", "Nov24 PENDING 104", "Dec07 PENDING 103")
}

// Whoever calls varq every run, in whatever time zone, a series keeps its own.
func TestZones(t *testing.T) {
	f := start(t)
	s := f.want(0)
	s.Zone = "Asia/Tokyo"
	if err := f.store.save(s); err != nil {
		t.Fatal(err)
	}
	f.wantWell("2026-11-22T00:00")
	f.host = time.FixedZone("", -3600)
	f.wantWell("2026-11-22T00:01")
	if s := f.want(1, "Nov22 PENDING 101"); s.Occurrences[0].At != time.Date(2026, 11, 22, 21, 0, 0, 0, time.UTC).Unix() {
		t.Errorf("%+v", s.Occurrences)
	}
	s.Zone = "Nowhere/None"
	if _, err := s.check(f.clock, time.UTC); err == nil || !strings.Contains(err.Error(), "zone: unknown time zone Nowhere/None") {
		t.Error(err)
	}
}

// Two hosts whose clocks differ by minutes call varq every run by turns: what one has told the
// other does not tell again, and what one has given up the other does not reserve.
func TestClocksOfTwoHosts(t *testing.T) {
	f := start(t)
	f.answers("exit 1")
	f.wantNews("2026-11-22T06:05", "2026-11-23T06:00:00: REFUSED")
	f.wantWell("2026-11-22T05:55")
	f.wantWell("2026-11-22T06:06")
	f.want(3, "Nov23 REFUSED 0")
	// one is missed, and the next one refused
	if well, err := f.at("2026-11-23T06:05"); well || err != nil || len(f.news) != 2 {
		t.Error(well, err, f.news)
	}
	f.wantWell("2026-11-23T05:55")
	f.wantWell("2026-11-23T06:06")
	f.want(6, "Nov23 MISSED 0", "Nov24 REFUSED 0")
}

// Also of a series that has been there for long, what was missed is told.
func TestMissedAfterLong(t *testing.T) {
	f := start(t)
	s := f.want(0)
	friday := time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC).Unix()
	for i := range int64(maxKept) {
		s.Occurrences = append(s.Occurrences, Occurrence{At: friday - 86400*(maxKept-1-i), State: api.StateKept, Job: 1 + i})
	}
	if err := f.store.save(s); err != nil {
		t.Fatal(err)
	}
	f.wantNews("2026-11-23T07:00", "2026-11-23T06:00:00: MISSED: 'varq every run' did not run in time")
}

// Options of the job's script are the script's.
func TestCheckOptions(t *testing.T) {
	f := start(t)
	f.answers(`echo '{"request":{"job":{}},"arguments":2}' >> "$report"; exit 1`)
	s := f.want(0)
	for args, want := range map[string]string{
		"-N4 job.sh --prob=.5":        "",
		"--begin-after=1 job.sh -W":   "",
		"--prob=.5 job.sh -":          "--prob is for varq every itself: give it before --",
		"--begin-by 17:00 job.sh -":   "--begin-by is what the schedule says, for each occurrence; leave it out",
		"-N4 --begin-b=6:00 job.sh -": "--begin-by is what the schedule says, for each occurrence; leave it out",
	} {
		s.Args = strings.Fields(args)
		err := s.try(t.Context(), monday, f.environ)
		if said := fmt.Sprint(err); err == nil && want != "" || err != nil && said != want {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// What sbatch prints that is not a number may come with a job: that is found out before another one
// is submitted.
func TestUnreadableNumber(t *testing.T) {
	f := start(t)
	f.answers("echo hello")
	if _, err := f.at("2026-11-22T06:00"); err == nil || !strings.Contains(err.Error(), `printed "hello\n", and no job's number`) {
		t.Error(err)
	}
	f.want(1, "Nov23 SUBMITTING 0")
}

// The jobs of a series that wait are cancelled with it. One of which nobody knows keeps it. A job
// with the same number that has another's reservation, or none, is not the series'.
func TestCancel(t *testing.T) {
	f := start(t)
	f.wantWell("2026-11-22T06:00")
	s := f.want(1, "Nov23 PENDING 101")
	if err := os.WriteFile(f.store.path(reportsOf(s.ID, monday+86400)), []byte(`{"plan":{"id":"ours"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Occurrences = append(s.Occurrences, Occurrence{At: monday + 86400, State: StateSubmitting, Tried: f.clock})
	f.varqd.list = []api.Reservation{{Plan: api.Plan{ID: "ours", BeginBy: monday + 86400}, State: api.StatePromised}}
	if _, err := f.cancel(t.Context(), s); err == nil || !strings.Contains(err.Error(), "may still submit its job") {
		t.Error(err)
	}
	s.Occurrences = s.Occurrences[:1]
	f.varqd.list = []api.Reservation{reserved("plan1", 101, api.StatePending), reserved("another", 0, api.StatePending)}
	f.write("scancel", "#!/bin/sh\necho no >&2; exit 1\n")
	if _, err := f.cancel(t.Context(), s); err == nil || !strings.Contains(err.Error(), "no; the series stays") {
		t.Error(err)
	}
	// Slurm could not be asked when sbatch had submitted it
	f.varqd.list[0].Job, f.varqd.list[0].State = 0, api.StatePromised
	if _, err := f.cancel(t.Context(), s); err == nil || !strings.Contains(err.Error(), "varqd does not know job 101 for 2026-11-23T06:00:00 yet") {
		t.Error(err)
	}
	f.varqd.list[0] = reserved("plan1", 101, api.StatePending)
	f.write("scancel", "#!/bin/sh\necho \"$*\" > $(dirname $0)/cancelled\n")
	s.Occurrences = append(s.Occurrences, Occurrence{At: monday + 86400, State: api.StatePending, Job: 7})
	f.varqd.list[1].Job = 7 // "another"
	if jobs, err := f.cancel(t.Context(), s); jobs != 1 || err != nil || len(f.news) != 1 || !strings.Contains(f.news[0], "scancel 7") {
		t.Error(jobs, err, f.news)
	}
	if text, err := os.ReadFile(filepath.Join(f.dir, "cancelled")); err != nil || string(text) != "--state=PENDING 101\n" {
		t.Errorf("%q, %v", text, err)
	}
	if all, broken := f.store.list(); len(all) != 0 || broken != nil {
		t.Error(all, broken)
	}
}

// What others may write is not run.
func TestStore(t *testing.T) {
	f := start(t)
	for _, text := range []string{`{"id":"aaaaab"}`, `{"unknown":1}`, `{`, strings.Repeat(" ", maxBytes+1)} {
		if err := os.WriteFile(f.store.path("bbbbbb.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, broken := f.store.list(); len(all) != 1 || len(broken) != 1 || !strings.Contains(broken[0].Error(), "bbbbbb.json: ") {
			t.Errorf("%.20q: %v, %v", text, all, broken)
		}
	}
	if err := os.Chmod(f.store.dir, 0o770); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(f.store.dir, false); err == nil || !strings.Contains(err.Error(), "is not yours alone") {
		t.Error(err)
	}
}

// A job of Slurm's, which is what scrontab makes of varq every run, gives sbatch nothing of its
// own.
func TestCleaned(t *testing.T) {
	got := cleaned([]string{"PATH=/bin", "SLURM_JOB_ID=7", "SLURM_CONF=/etc/slurm.conf", "SPANK_X=1", "SLURMD_NODENAME=n", "SBATCH_ACCOUNT=phys", "SLURM_MEM_PER_CPU=1"})
	if strings.Join(got, " ") != "PATH=/bin SLURM_CONF=/etc/slurm.conf SBATCH_ACCOUNT=phys" {
		t.Error(got)
	}
}

// Whatever is in a file, it is refused or can be worked with.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"aaaaaa","schedule":"06:00","ahead":86400,"sbatch":"/bin/sbatch","args":["job.sh"],"made":1795266000,"occurrences":[{"at":1795266000,"state":"KEPT"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := decode(text)
		if err != nil {
			return
		}
		schedule, err := s.check(saturday, time.UTC)
		if err != nil {
			return
		}
		s.plan(schedule, saturday)
		if len(s.Occurrences) > maxKept {
			t.Errorf("%d occurrences", len(s.Occurrences))
		}
	})
}
