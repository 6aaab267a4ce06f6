package filter

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
	"github.com/varq-project/varq/predictor/workload"
)

func TestReadSizes(t *testing.T) {
	got, err := Read([]byte(`{"spank:begin-by":"now+1hour","spank:sizes":"4:2h,8:1h10m","spank:size-by":"cost","nodes":"1","time":"5:00:00","ntasks-per-node":"2","mem":"1G"}`), "sbatch", nil, now, time.UTC, ours)
	if err != nil {
		t.Fatal(err)
	}
	want := api.PlanRequest{
		BeginBy: now + 3600, Prefer: "cost",
		Sizes: []api.Size{
			{Size: workload.Size{Nodes: 4, CPUs: 8, Memory: 4096}, Limit: 7200},
			{Size: workload.Size{Nodes: 8, CPUs: 16, Memory: 8192}, Limit: 4200},
		},
	}
	got.Request.Needs = nil
	if diff := cmp.Diff(want, got.Request); diff != "" {
		t.Error(diff)
	}
	const by = `"spank:begin-by":"now+1hour",`
	for options, want := range map[string]string{
		`{` + by + `"spank:sizes":"4"}`:                             `--sizes: "4" is not a size NODES:TIME (try 4:2h)`,
		`{` + by + `"spank:sizes":"4:2h","spank:size-by":"beauty"}`: `--size-by: "beauty" is not a preference`,
		`{` + by + `"spank:size-by":"cost"}`:                        `--size-by chooses among --sizes`,
		`{` + by + `"spank:sizes":"4:2h,8:1h","ntasks":"6"}`:        `--sizes: with the job's other options its number of nodes is 6, and not 8; give its tasks by node`,
		`{` + by + `"spank:sizes":"1:2h","nodelist":"n[1-2]"}`:      `--sizes: with the job's other options its number of nodes is 2, and not 1`,
		`{"spank:finish-by":"now+1hour","spank:sizes":"4:2h"}`:      `--sizes does not go together with --finish-by`,
		`{"spank:sizes":"4:2h"}`:                                    `--sizes needs --begin-by, the time by which the job is to run, or --size=auto, with which it is promised nothing`,
	} {
		if _, err := Read([]byte(options), "sbatch", nil, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, wanted %s", options, err, want)
		}
	}
}

// ordered runs the helper for an order of varq reserve, and returns its answer and its reports.
func ordered(t *testing.T, order sbatch.Order, options string, varqd Varqd, orders string) (answer string, reports []sbatch.Report) {
	t.Helper()
	order.Report = filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(order.Report, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	var out closer
	h := Helper{
		Orders: strings.NewReader(orders), Options: func() ([]byte, error) { return []byte(options), nil }, Environment: []string{"A=b", "VARQ_RESERVE" + "=" + string(text)},
		Answer: &out, User: io.Discard, Leave: func() {}, Dial: func() (Varqd, error) { return varqd, nil },
		Now: func() time.Time { return time.Unix(now, 0) }, Zone: time.UTC, Pause: time.Millisecond,
	}
	if err := h.Run(t.Context()); err != nil {
		t.Error(err)
	}
	lines, err := os.ReadFile(order.Report)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(lines) {
		var r sbatch.Report
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	return out.String(), reports
}

type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

// planner is a varqd with one answer, which remembers the question.
type planner struct {
	fakeVarqd
	answer api.PlanAnswer
	asked  *api.PlanRequest
}

func (p *planner) Plan(_ context.Context, r api.PlanRequest) (api.PlanAnswer, error) {
	p.asked = &r
	return p.answer, nil
}

// To describe a job is to plan nothing.
func TestOrderToDescribe(t *testing.T) {
	answer, reports := ordered(t, sbatch.Order{Describe: true, Site: "beta"}, `{"spank:begin-by":"now+1hour","nodes":"4","clusters":"beta"}`, nil, "plan sbatch\n")
	if answer != "refuse nothing is submitted, as varq reserve only asks what the job needs\nend\n" || len(reports) != 1 || reports[0].Request == nil || reports[0].Request.Job.Nodes != 4 {
		t.Errorf("%q, %+v", answer, reports)
	}
}

// A tentative promise in a partition is submitted with a begin time much later.
func TestOrderOfSlot(t *testing.T) {
	varqd := &planner{answer: api.PlanAnswer{Plan: &api.Plan{ID: "abcdefgh2345", BeginTime: now, BeginBy: now + 3600, TimeLimit: 7200, WorkLimit: 3600, Tentative: now + 60, SizeNodes: 8, Cluster: "alpha"}}}
	answer, reports := ordered(t, sbatch.Order{Partition: "long", Tentative: 60}, `{"spank:begin-by":"now+1hour","spank:sizes":"8:1h","partition":"main"}`, varqd, "plan sbatch\njob 17\n")
	if r := varqd.asked; r == nil || r.Tentative != 60 || r.Job.Partition != "long" {
		t.Errorf("varqd was asked %+v", r)
	}
	for _, want := range []string{"\nbegin uts1797854460\n", "\nnodes 8\n", "\npartition long\n", "\nclusters alpha\n"} {
		if !strings.Contains(answer, want) {
			t.Errorf("%q does not have %q", answer, want)
		}
	}
	if len(reports) != 2 || reports[0].Plan == nil || reports[1].Job != 17 {
		t.Errorf("%+v", reports)
	}
}

// The sizes that cannot be promised are told with their reasons.
func TestSizesLeftOut(t *testing.T) {
	varqd := &planner{answer: api.PlanAnswer{
		Plan:    &api.Plan{ID: "abcdefgh2345", BeginTime: now, BeginBy: now + 3600, TimeLimit: 7200, WorkLimit: 3600, SizeNodes: 2},
		LeftOut: []string{"16 nodes: partition main has 8 nodes"},
	}}
	answer, _ := ordered(t, sbatch.Order{Recurs: true}, `{"spank:begin-by":"now+1hour","spank:sizes":"2:1h,16:30"}`, varqd, "plan sbatch\n")
	if !strings.Contains(answer, "\nsay not 16 nodes: partition main has 8 nodes\n") {
		t.Error(answer)
	}
}

// varqd learns of which group a job is to be a member, and what probability is asked for that.
func TestOrderOfMember(t *testing.T) {
	varqd := &planner{answer: api.PlanAnswer{Refusal: &api.Refusal{Reason: "too much"}}}
	of := sbatch.Member{Group: "gggggggggggg", Home: "beta", GroupProb: .9}
	ordered(t, sbatch.Order{Tentative: 60, Member: of}, `{"spank:begin-by":"now+1hour","nodes":"4"}`, varqd, "plan sbatch\n")
	if r := varqd.asked; r == nil || (sbatch.Member{Group: r.Group, Home: r.Home, GroupProb: r.GroupProb}) != of {
		t.Errorf("varqd was asked %+v", r)
	}
}

// The cluster that varq reserve names is not a contradiction, and another one is.
func TestOrderOfAnotherSite(t *testing.T) {
	_, reports := ordered(t, sbatch.Order{Site: "beta"}, `{"spank:begin-by":"now+1hour","clusters":"gamma"}`, &fakeVarqd{}, "plan sbatch\n")
	if len(reports) != 0 {
		t.Errorf("%+v", reports)
	}
	order := []string{"VARQ_RESERVE" + `={"report":"x","limit":600}`}
	for options, want := range map[string]string{
		`{"spank:begin-by":"now+1hour","clusters":"beta"}`: "--clusters is given to sbatch, or SBATCH_CLUSTERS is set: give it to varq reserve instead, before --",
		`{"spank:begin-by":"now+1hour","wait":"set"}`:      "--wait does not go together with varq reserve: sbatch would wait for a job that waits for sbatch",
		`{"spank:begin-by":"now+1hour","array":"1-3"}`:     "--array does not go together with varq reserve: each of its jobs is one job",
		`{"spank:begin-by":"now+1hour","test-only":"set"}`: "--test-only does not go together with varq reserve: use --dry-run",
		`{"spank:begin-by":"now+1hour","spank:begin-after":"now","spank:finish-by":"now+2hours","spank:risk":"0.9"}`: "--finish-by is given to sbatch, or the script has it: give varq reserve --latest, --finish-by or --earliest instead, before --\n" +
			"--risk is given to sbatch, or the script has it: give varq reserve --latest, --finish-by or --earliest instead, before --\n" +
			"--begin-after is given to sbatch, or the script has it: give varq reserve --latest, --finish-by or --earliest instead, before --",
	} {
		if _, err := Read([]byte(options), "sbatch", order, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "together with --begin-by") {
			t.Errorf("%s: error %v, wanted %s", options, err, want)
		}
	}
	if s, err := Read([]byte(`{"spank:begin-by":"now+1hour","time":"5:00:00"}`), "sbatch", order, now, time.UTC, ours); err != nil || s.Request.Job.Limit != 600 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Read([]byte(`{"spank:begin-by":"now+1hour"}`), "sbatch", []string{"VARQ_RESERVE" + "=mine"}, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), "the environment variable VARQ_RESERVE is set by varq reserve and varq every alone") {
		t.Error(err)
	}
}

// What each link of a chain cannot have is refused in its words.
func TestOrderOfChain(t *testing.T) {
	order := []string{"VARQ_RESERVE" + `={"report":"/nowhere","chain":true}`}
	for options, want := range map[string]string{
		`{"spank:begin-by":"now+1hour","array":"1-3"}`:      "--array does not go together with varq chain: each link of a chain is one job; leave it out",
		`{"spank:begin-by":"now+1hour","quiet":"set"}`:      "--quiet does not go together with varq chain: ",
		`{"spank:begin-by":"now+1hour","hold":"set"}`:       "--hold does not go together with varq chain: ",
		`{"spank:begin-by":"now+1hour","clusters":"gamma"}`: "--clusters does not go together with varq chain: varqd tells, and promises, of its own cluster alone",
	} {
		if _, err := Read([]byte(options), "sbatch", order, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, wanted %s", options, err, want)
		}
	}
}

// A job that recurs is promised as by any sbatch, and its plan is reported before sbatch knows of
// it. What keeps sbatch from submitting the job, or from ending, is refused, wherever it is said.
func TestOrderOfSeries(t *testing.T) {
	varqd := &planner{answer: api.PlanAnswer{Plan: &api.Plan{ID: "abcdefgh2345", BeginTime: now, BeginBy: now + 3600, TimeLimit: 7200, WorkLimit: 3600}}}
	answer, reports := ordered(t, sbatch.Order{Recurs: true}, `{"spank:begin-by":"now+1hour","nodes":"4"}`, varqd, "plan sbatch\n")
	if r := varqd.asked; r == nil || r.Tentative != 0 || r.BeginBy != now+3600 || !strings.Contains(answer, "\nplan abcdefgh2345\n") {
		t.Errorf("varqd was asked %+v, sbatch is told %q", r, answer)
	}
	if len(reports) != 1 || reports[0].Plan == nil || reports[0].Plan.ID != "abcdefgh2345" {
		t.Errorf("%+v", reports)
	}
	order := []string{"VARQ_RESERVE" + `={"report":"/nowhere","recurs":true}`}
	for options, want := range map[string]string{
		`{"spank:begin-by":"now+1hour","wait":"set"}`:                   "--wait does not go together with varq every: sbatch has to submit a job that recurs, and end; leave it out",
		`{"spank:begin-by":"now+1hour","test-only":"set"}`:              "--test-only does not go together with varq every: sbatch would submit no job; leave it out",
		`{"spank:begin-by":"now+1hour","quiet":"set"}`:                  "--quiet does not go together with varq every: sbatch would not print the job's number",
		`{"spank:begin-by":"now+1hour","clusters":"gamma"}`:             "--clusters does not go together with varq every: varqd tells, and promises, of its own cluster alone",
		`{"spank:begin-by":"now+1hour","array":"1-3"}`:                  "--array does not go together with varq every: the job that recurs is one job",
		`{"spank:begin-by":"now+1hour","spank:finish-by":"now+2hours"}`: "--finish-by does not go together with --begin-by",
	} {
		if _, err := Read([]byte(options), "sbatch", order, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, wanted %s", options, err, want)
		}
	}
	// A plan that cannot be reported is none: sbatch submits nothing.
	if answer := unreported(t, varqd); !strings.HasPrefix(answer, "refuse open /nowhere: ") {
		t.Errorf("%q", answer)
	}
}

// unreported returns the answer to an sbatch of a series whose reports nobody can write.
func unreported(t *testing.T, varqd Varqd) string {
	t.Helper()
	var out closer
	h := Helper{
		Orders: strings.NewReader("plan sbatch\n"), Options: func() ([]byte, error) { return []byte(`{"spank:begin-by":"now+1hour","nodes":"4"}`), nil },
		Environment: []string{"VARQ_RESERVE" + `={"report":"/nowhere","recurs":true}`}, Answer: &out, User: io.Discard, Leave: func() {},
		Dial: func() (Varqd, error) { return varqd, nil }, Now: func() time.Time { return time.Unix(now, 0) }, Zone: time.UTC, Pause: time.Millisecond,
	}
	if err := h.Run(t.Context()); err != nil {
		t.Error(err)
	}
	return out.String()
}

// ofOne is a varqd that is asked about a single size.
type ofOne struct{ fakeVarqd }

func (*ofOne) Size(context.Context, api.SizeRequest) (api.SizeAnswer, error) {
	return api.SizeAnswer{Sizes: []api.SizeForecast{{Nodes: 4, Limit: 3600}}}, nil
}

// A job without a promise gets the size that varqd finds best, and is told it.
func TestSizeWithoutAPromise(t *testing.T) {
	answer, _ := ordered(t, sbatch.Order{}, `{"spank:size":"auto","spank:sizes":"1:2h,4:1h,16:30,32:20"}`, &fakeVarqd{}, "plan sbatch\n")
	const want = `ticket -::3600
nodes 4
time 60
say 4 nodes for 01:00:00, of 4 sizes: it is expected to wait 00:01:30, and to end within 01:01:30
say 1 node for 02:00:00 would wait 00:01:30, and end within 02:01:30
say not 16 or 32 nodes: the cluster has fewer nodes
end
`
	if answer != want {
		t.Error(answer)
	}
	const single = "say 4 nodes for 01:00:00, the only size: "
	if answer, _ = ordered(t, sbatch.Order{}, `{"spank:size":"auto","spank:sizes":"4:1h"}`, &ofOne{}, "plan sbatch\n"); !strings.Contains(answer, single) {
		t.Error(answer)
	}
	for options, want := range map[string]string{
		`{"spank:size":"big","spank:sizes":"4:2h"}`:                               `--size: "big" is neither auto nor cost`,
		`{"spank:size":"auto"}`:                                                   `--size=auto needs --sizes, such as --sizes=4:2h`,
		`{"spank:size":"auto","spank:sizes":"4:2h","spank:begin-by":"now+1hour"}`: `--size does not go together with --begin-by`,
		`{"spank:size":"auto","spank:sizes":"4:2h","begin":"now"}`:                `--size does not go together with --begin`,
		`{"spank:size":"auto","spank:sizes":"4:2h","clusters":"beta"}`:            `--size does not go together with --clusters: varqd tells`,
		`{"spank:size":"auto","spank:sizes":"4:2h","time-min":"5"}`:               `--size does not go together with --time-min: Slurm would shorten`,
	} {
		if _, err := Read([]byte(options), "sbatch", nil, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, wanted %s", options, err, want)
		}
	}
}

// sizer is a varqd that takes the second size, and records what it was asked.
type sizer struct {
	fakeVarqd
	asked api.SizeRequest
}

func (z *sizer) Size(_ context.Context, r api.SizeRequest) (api.SizeAnswer, error) {
	z.asked = r
	a := api.SizeAnswer{Best: 1, Sizes: make([]api.SizeForecast, len(r.Sizes))}
	if r.Reconsider {
		a.Comment = "varq-size:abcdefgh2345"
	}
	return a, nil
}

// A size that is not locked in comes with a comment, and with a ticket that knows the times of all
// sizes.
func TestLockIn(t *testing.T) {
	var varqd sizer
	answer, _ := ordered(t, sbatch.Order{}, `{"spank:size":"auto","spank:sizes":"1:2h,4:1h","spank:lock-in":"no","spank:risk-aversion":".2","ntasks-per-node":"2","quiet":"set"}`, &varqd, "plan sbatch\n")
	const want = "ticket -:2:1=7200,4=3600\ncomment varq-size:abcdefgh2345\nnodes 4\ntime 60\nend\n"
	if r := varqd.asked; answer != want || !r.Reconsider || r.Aversion != .2 || r.TasksPerNode != 2 || r.By != api.SizeAuto {
		t.Errorf("%q, asked for %+v", answer, r)
	}
	answer, _ = ordered(t, sbatch.Order{}, `{"spank:size":"auto","spank:sizes":"1:2h,4:1h","spank:lock-in":"yes","ntasks-per-node":"2","quiet":"set"}`, &varqd, "plan sbatch\n")
	if r := varqd.asked; answer != "ticket -::3600\nnodes 4\ntime 60\nend\n" || r.Reconsider || r.Aversion != 0 {
		t.Errorf("locked in: %q, asked for %+v", answer, r)
	}
	if answer, _ = ordered(t, sbatch.Order{}, `{"spank:size":"auto","spank:sizes":"1:2h,4:1h","spank:lock-in":"no"}`, &varqd, "plan sbatch\n"); !strings.HasSuffix(answer, "say as long as it waits, it gets another of these sizes if it is then expected to end sooner\nend\n") {
		t.Errorf("%q", answer)
	}
	ordered(t, sbatch.Order{}, `{"spank:size":"auto","spank:sizes":"1:2h,4:1h","spank:lock-in":"no","test-only":"set"}`, &varqd, "plan sbatch\n")
	if varqd.asked.Reconsider {
		t.Error("what is not submitted is followed")
	}
	const auto = `{"spank:size":"auto","spank:sizes":"4:2h",`
	for options, want := range map[string]string{
		`{"spank:lock-in":"no"}`: "--lock-in goes together with --size=auto only",
		`{"spank:risk-aversion":"0.2","spank:begin-by":"now+1hour","spank:sizes":"4:2h"}`:   "--risk-aversion goes together with --size=auto only",
		`{"spank:size":"cost","spank:sizes":"4:2h","spank:lock-in":"no"}`:                   "--lock-in=no goes together with --size=auto only: what a size costs",
		`{"spank:size":"cost","spank:sizes":"4:2h","spank:risk-aversion":"0.2"}`:            "--risk-aversion goes together with --size=auto only: it is about",
		auto + `"spank:lock-in":"maybe"}`:                                                   `--lock-in: "maybe" is neither yes nor no`,
		auto + `"spank:risk-aversion":"often"}`:                                             `--risk-aversion: "often" is not a share of the run time`,
		auto + `"spank:risk-aversion":"101"}`:                                               `--risk-aversion: 101 is not a share of the run time`,
		auto + `"spank:risk-aversion":"NaN"}`:                                               `--risk-aversion: NaN is not a share of the run time`,
		auto + `"spank:lock-in":"no","gres":"gres:gpu:1"}`:                                  "--gres does not go together with --lock-in=no: Slurm does not",
		auto + `"spank:lock-in":"no","nodelist":"node1"}`:                                   "--nodelist does not go together with --lock-in=no: the nodes",
		auto + `"deadline":"now+1hour"}`:                                                    "--size does not go together with --deadline: Slurm cancels",
		auto + `"spank:lock-in":"no","cpus-per-task":"2"}`:                                  "--cpus-per-task does not go together with --lock-in=no: Slurm counts",
		auto + `"spank:lock-in":"no","overcommit":"set"}`:                                   "--overcommit does not go together with --lock-in=no: how many",
		auto + `"spank:lock-in":"no","ntasks":"8","ntasks-per-node":"2"}`:                   "--ntasks together with --ntasks-per-node does not go together with --lock-in=no",
		auto + `"spank:lock-in":"no","gpus-per-task":"1","core-spec":"1","nodefile":"all"}`: "--gpus-per-task does not go",
	} {
		if _, err := Read([]byte(options), "sbatch", nil, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, wanted %s", options, err, want)
		}
	}
	if _, err := Read([]byte(auto+`"spank:lock-in":"no"}`), "srun", nil, now, time.UTC, ours); err == nil || !strings.HasPrefix(err.Error(), "--lock-in=no is for sbatch: srun") {
		t.Error(err)
	}
}

// --nodes and --time of the command line exclude --sizes, to which those of the script, the
// environment or the site give way, which is told.
func TestSizesAndLine(t *testing.T) {
	const job = `{"spank:begin-by":"now+1hour","spank:sizes":"4:2h","nodes":"1","time":"30","argv":["job.sh","-N4"]}`
	const nodes, time1 = "--nodes does not go together with ", "--time does not go together with "
	const sizes, reserve = "--sizes, which have nodes and times of their own: leave it out", "the sizes of varq reserve, which have nodes and times of their own: leave it out"
	for line, test := range map[string]struct {
		order *sbatch.Order
		err   string
		note  string
	}{
		"sbatch job.sh -N4": {note: "instead of --nodes=1 and --time=30 of the script, the environment or the site: --sizes"},
		"sbatch -Jx --nodelist=a --time-min=3 job.sh -N4": {note: "instead of --nodes=1 and --time=30 of the script, the environment or the site: --sizes"},
		"sbatch -N 4 job.sh -N4":                          {err: nodes + sizes},
		"sbatch -QHN4 job.sh -N4":                         {err: nodes + sizes},
		"sbatch --nodes=4 -t30 job.sh -N4":                {err: nodes + sizes + "\n" + time1 + sizes},
		"sbatch --time 30 job.sh -N4":                     {err: time1 + sizes},
		"":                                                {note: "instead of --nodes=1 and --time=30 of the script, the environment or the site: --sizes"},
		"sbatch -t 30  job.sh -N4":                        {order: &sbatch.Order{}, err: time1 + reserve},
		"sbatch -t 30   job.sh -N4":                       {order: &sbatch.Order{Reference: true}, note: "instead of --nodes=1 of the script, the environment or the site: the sizes of varq reserve"},
		"sbatch -N4 -t 30 job.sh -N4":                     {order: &sbatch.Order{Reference: true}, err: nodes + reserve},
	} {
		box, environment := job, []string(nil)
		if line != "" {
			box += "\x00" + strings.Join(strings.Fields(line), "\x00") + "\x00"
		}
		if test.order != nil {
			test.order.Report = "/nowhere"
			text, err := json.Marshal(test.order)
			if err != nil {
				t.Fatal(err)
			}
			environment = []string{"VARQ_RESERVE=" + string(text)}
		}
		s, err := Read([]byte(box), "sbatch", environment, now, time.UTC, ours)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if said != test.err {
			t.Errorf("%s: error %q, want %q", line, said, test.err)
		}
		if err == nil && strings.Join(s.notes, ";") != test.note {
			t.Errorf("%s: %q, want %q", line, s.notes, test.note)
		}
	}
}
