package filter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
)

// now is 2026-11-21T12:00:00 in UTC.
const now = 1795262400

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, options string
		want          api.PlanRequest
	}{
		{
			"a deadline only", `{"spank:begin-by":"now+1hour","argv":["job.sh"]}`,
			api.PlanRequest{BeginBy: now + 3600, Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}}, Needs: &workload.Needs{MostNodes: 1}},
		},
		{
			"everything",
			`{"spank:begin-by":"17:00","spank:prob":"95%","spank:begin-after":"2026-11-21T15:30","spank:on-miss":"cancel",
			  "nodes":"4","ntasks-per-node":"2","cpus-per-task":"3","gres":"gres:gpu:a100:2,gres:shard:1","mem":"4G","time":"1-02:00:00",
			  "partition":"long","account":"phys","qos":"high","comment":"\"\\\n","argv":["a",{"b":1}],"wrap":"true"}`,
			api.PlanRequest{
				BeginBy: now + 5*3600, BeginAfter: now + 3*3600 + 1800, Prob: .95, OnMiss: "cancel",
				Job: workload.Request{
					Partition: "long", Account: "phys", QOS: "high", Limit: 26 * 3600,
					Size: workload.Size{Nodes: 4, CPUs: 24, GPUs: 8, Memory: 16384},
				},
				Needs: &workload.Needs{
					MostNodes: 4, Scale: []workload.Counted{{Option: "--nodes=", Count: 4}}, NodeCPUs: workload.NodeNeed{Amount: 6, Option: "--ntasks-per-node"}, NodeMemory: workload.NodeNeed{Amount: 4096, Option: "--mem"},
					Gres: []workload.Gres{
						{Name: "gpu", Type: "a100", Count: 2, PerNode: true, Option: "--gres=gpu:a100:2,shard:1"},
						{Name: "shard", Count: 1, PerNode: true, Option: "--gres=gpu:a100:2,shard:1"},
					},
				},
			},
		},
		{
			"best effort, all the memory", `{"spank:begin-by":"uts1795266000","spank:best-effort":"set","mem":"0?","ntasks":"8"}`,
			api.PlanRequest{BeginBy: now + 3600, BestEffort: true, Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 8}}, Needs: &workload.Needs{MostNodes: 8, Scale: []workload.Counted{{Option: "--ntasks=", Count: 8}}, NodeMemory: workload.NodeNeed{Option: "--mem"}}},
		},
		{
			"several accounts", `{"spank:begin-by":"now+1hour","spank:accounts":"phys,rrg","account":"phys","qos":"high,low"}`,
			api.PlanRequest{BeginBy: now + 3600, Job: workload.Request{Account: "phys,rrg", QOS: "high,low", Size: workload.Size{Nodes: 1, CPUs: 1}}, Needs: &workload.Needs{MostNodes: 1}},
		},
		{
			"all the memory, by CPU", `{"spank:begin-by":"now+1hour","mem-per-cpu":"0?"}`,
			api.PlanRequest{BeginBy: now + 3600, Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}}, Needs: &workload.Needs{MostNodes: 1, NodeMemory: workload.NodeNeed{Option: "--mem-per-cpu"}}},
		},
		{
			"certain nodes", `{"spank:begin-by":"now+1hour","nodes":"2","ntasks":"64","overcommit":"set","nodelist":"n[1-2]","exclude":"n9","constraint":"ib&fast",
			  "exclusive":"user","licenses":"matlab:2","reservation":"course","mincpus":"8","gpus":"h100:1"}`,
			api.PlanRequest{
				BeginBy: now + 3600, Job: workload.Request{Size: workload.Size{Nodes: 2, CPUs: 2, GPUs: 1}},
				Needs: &workload.Needs{
					MostNodes: 2, NodeCPUs: workload.NodeNeed{Amount: 8, Option: "--mincpus"},
					NodeList:   workload.NamedNodes{Names: []string{"n1", "n2"}, Option: "--nodelist=n[1-2]"},
					Exclude:    workload.NamedNodes{Names: []string{"n9"}, Option: "--exclude=n9"},
					Constraint: "ib&fast", Exclusive: true, Licenses: "matlab:2", Reservation: "course",
					Gres: []workload.Gres{{Name: "gpu", Type: "h100", Count: 1, Option: "--gpus=h100:1"}},
				},
			},
		},
		{
			"threads of a core", `{"spank:begin-by":"now+1hour","hint":"nomultithread"}`,
			api.PlanRequest{BeginBy: now + 3600, Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}}, Needs: &workload.Needs{MostNodes: 1, PerCore: 1}},
		},
		{
			"a GPU, as Slurm 24.11 writes it", `{"spank:begin-by":"now+1hour","gres":"gres/gpu:1"}`,
			api.PlanRequest{
				BeginBy: now + 3600, Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1, GPUs: 1}},
				Needs: &workload.Needs{MostNodes: 1, Gres: []workload.Gres{{Name: "gpu", Count: 1, PerNode: true, Option: "--gres=gpu:1"}}},
			},
		},
		{
			"shared", `{"spank:begin-by":"now+1hour","exclusive":"oversubscribe"}`,
			api.PlanRequest{BeginBy: now + 3600, Job: workload.Request{Size: workload.Size{Nodes: 1, CPUs: 1}}, Needs: &workload.Needs{MostNodes: 1}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Read([]byte(test.options), "sbatch", nil, now, time.UTC, ours)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Request); diff != "" {
				t.Error(diff)
			}
		})
	}
	got, err := Read([]byte(`{"spank:begin-by":"now+1hour","test-only":"set","quiet":"1"}`), "sbatch", nil, now, time.UTC, ours)
	if err != nil || !got.Quote || !got.Quiet {
		t.Errorf("--test-only --quiet: %+v, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	const by = `"spank:begin-by":"now+1hour",`
	for options, want := range map[string]string{
		`[]`:                        "the options are not JSON",
		`{"spank:begin-by":"soon"}`: "--begin-by: ",
		`{"spank:begin-by":"2026-11-21T12:00:00"}`:                                "--begin-by: 2026-11-21T12:00:00 is in the past",
		`{"spank:prob":"0.9"}`:                                                    "--prob needs --begin-by",
		`{"spank:best-effort":"set"}`:                                             "--best-effort needs --begin-by",
		`{` + by + `"spank:on-miss":""}`:                                          "--on-miss needs a value: is a variable of your shell empty?",
		`{` + by + `"time":"400-00"}`:                                             "--time: 400-00:00:00 is not between 00:00:00 and 366-00:00:00",
		`{"spank:prob":"0.9","spank:on-miss":"run"}`:                              "--prob needs --begin-by or --finish-by: the time by which the job is to run or to have ended\n--on-miss needs --begin-by or",
		`{` + by + `"spank:prob":"1"}`:                                            "--prob: ",
		`{` + by + `"spank:begin-after":"now+2hours"}`:                            "--begin-after: 2026-11-21T14:00:00 is after --begin-by, 2026-11-21T13:00:00",
		`{` + by + `"spank:begin-after":"now+1minute","spank:best-effort":"set"}`: "--begin-after does not go together with --best-effort: the one holds the work, the other does not",
		`{` + by + `"spank:on-miss":"later"}`:                                     `--on-miss: "later" is neither run nor cancel`,
		`{` + by + `"begin":"now"}`:                                               "--begin does not go together with --begin-by: varq chooses when the job becomes eligible",
		`{` + by + `"hold":"set"}`:                                                "--hold does not go together with --begin-by: a job that is held does not start; submit it without --hold",
		`{` + by + `"nice":"-1"}`:                                                 "--nice=-1 does not go together with --begin-by: it raises the job's priority",
		`{` + by + `"nodelist":"n["}`:                                             "--nodelist: hostlist n[: ",
		`{` + by + `"gres":":2"}`:                                                 `--gres: ":2" is not a generic resource`,
		`{` + by + `"array":"0-39%8","spank:tasks":"20"}`:                         "--tasks: 20 cannot run at the same time, as the array lets 8 run at once (%8): ask for as many, or leave out %8",
		`{` + by + `"array":"0-39","spank:tasks":"41"}`:                           "--tasks: 41 are more than the array has, which is 40",
		`{` + by + `"array":"0-39","spank:tasks":"half"}`:                         `--tasks: "half" is neither a number of tasks nor a share of them: 20, or 50%`,
		`{` + by + `"spank:accounts":"phys,"}`:                                    `--accounts: "phys," has an empty name`,
		`{` + by + `"array":"0-39","spank:tasks":"0%"}`:                           `--tasks: "0%" is neither`,
		`{` + by + `"array":"0-39","spank:tasks":"101%"}`:                         `--tasks: "101%" is neither`,
		`{` + by + `"array":"0-19999"}`:                                           "--tasks: a promise is about at most 10000 tasks, and these are 20000: ask for fewer of them",
		`{` + by + `"spank:tasks":"2"}`:                                           "--tasks: it says how many tasks of a job array are to run, and there is no --array; Slurm's option is --ntasks-per-node, or --ntasks",
		`{"array":"0-39","spank:tasks":"2"}`:                                      "--begin-by is missing",
		`{"spank:finish-by":"now+1hour","array":"0-39","spank:tasks":"8"}`:        "--tasks does not go together with --finish-by: it is promised that all tasks of the array have ended",
		`{"spank:finish-by":"now+1hour","array":"0-19999%8"}`:                     "--array: a promise is about at most 10000 tasks, and these are 20000",
		`{` + by + `"spank:sizes":"1:10,2:5","array":"0-39"}`:                     "--array does not go together with --sizes: the tasks of an array have one size",
		`{` + by + `"clusters":"beta"}`:                                           "--clusters does not go together with --begin-by: varqd tells, and promises, of its own cluster alone (varq reserve --clusters chooses among several)",
		`{` + by + `"uid":"1001"}`:                                                "--uid does not go together with --begin-by: a reservation is made for whoever submits the job",
		`{` + by + `"time":"UNLIMITED"}`:                                          "--time: 0 and UNLIMITED are no limit, and without one nothing can be forecast or promised: give one, such as 1:00:00",
		`{` + by + `"ntasks":"many"}`:                                             `--ntasks: "many" is not a number`,
		`{` + by + `"nodes":"1-8"}`:                                               `--nodes: "1-8" leaves the number of nodes open`,
		`{` + by + `"spread-job":"set"}`:                                          `--spread-job does not go together with --begin-by`,
		`{` + by + `"extra-node-info":"1:4:1"}`:                                   "--extra-node-info does not go together with --begin-by: when as many cores of one socket",
		`{` + by + `"hint":"memory_bound"}`:                                       "--hint=memory_bound does not go together with --begin-by: when as many cores of one socket",
		`{` + by + `"core-spec":"1"}`:                                             "--core-spec does not go together with --begin-by: ",
		`{` + by + `"nodes":"x"}`:                                                 `--nodes: "x" is not a number of nodes`,
		`{` + by + `"time":"long"}`:                                               "--time: ",
		`{` + by + `"deadline":"now","dependency":"singleton"}`: "--deadline does not go together with --begin-by: it lets Slurm end the job, which varq's promise does not need\n" +
			"--dependency: singleton waits for jobs of the same name: name the job with --job-name",
		`{` + by + `"dependency":"afterok:x"}`: `--dependency: "x" is not a job`,
	} {
		_, err := Read([]byte(options), "sbatch", nil, now, time.UTC, ours)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", options, err, want)
		}
	}
}

// What Slurm takes from the environment is refused as on the command line. Of --switches its JSON
// says nothing then.
func TestReadRefusesVariables(t *testing.T) {
	const by = `{"spank:begin-by":"now+1hour"`
	for _, test := range []struct{ command, options, variable, want string }{
		{"sbatch", by + `,"spread-job":"set"}`, "SBATCH_SPREAD_JOB=", "--spread-job (SBATCH_SPREAD_JOB in the environment) does not"},
		{"sbatch", by + `}`, "SBATCH_REQ_SWITCH=1", "--switches (SBATCH_REQ_SWITCH in the environment) does not"},
		{"srun", by + `}`, "SLURM_REQ_SWITCH=1", "--switches (SLURM_REQ_SWITCH in the environment) does not"},
		{"sbatch", by + `}`, "SLURM_REQ_SWITCH=1", ""},
		{"sbatch", by + `}`, "SBATCH_REQ_SWITCHX=1", ""},
	} {
		_, err := Read([]byte(test.options), test.command, []string{"HOME=/", test.variable}, now, time.UTC, ours)
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s with %s: %v, want %q", test.command, test.variable, err, test.want)
		}
	}
}

// write returns the lines that Write makes of an answer to a submission with these options.
func write(t *testing.T, options string, a api.PlanAnswer) string {
	t.Helper()
	s, err := Read([]byte(options), "sbatch", nil, now, time.UTC, ours)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := s.Write(&text, a); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestWrite(t *testing.T) {
	plan := api.Plan{
		ID: "abcdefgh2345", BeginTime: now + 1800, TimeLimit: 5400, BeginBy: now + 3600, HoldUntil: now + 3600, WorkLimit: 3600,
		Prob: .9, Estimate: .93999, OnMiss: "run", Comment: "varq:abcdefgh2345",
		Work: api.Cost{NodeSeconds: 14400, BillingSeconds: 57600}, Worst: api.Cost{NodeSeconds: 7200, BillingSeconds: 28800},
	}
	const (
		asked = `{"spank:begin-by":"now+1hour"}`
		costs = "say eligible from 2026-11-21T12:30:00, time limit 01:30:00\nsay the work costs 4.00 node-hours, 16.00 billing-hours; the reservation at most 2.00 node-hours, 8.00 billing-hours more, 0.50 times the work\n" +
			"say without --time the work may take 01:00:00; with a shorter --time it may start sooner\n"
	)
	if diff := cmp.Diff("ticket 1795266000:1795266000:3600:abcdefgh2345\n"+
		"plan abcdefgh2345\nbegin uts1795264200\ntime 90\ncomment varq:abcdefgh2345\n"+
		"say promised: running by 2026-11-21T13:00:00 with probability 0.90 (estimate 0.93)\n"+costs+"end\n",
		write(t, asked, api.PlanAnswer{Plan: &plan})); diff != "" {
		t.Error(diff)
	}

	if got := write(t, `{"spank:begin-by":"now+1hour","quiet":"1"}`, api.PlanAnswer{Plan: &plan}); strings.Contains(got, "say ") {
		t.Errorf("with --quiet: %s", got)
	}

	array := plan
	array.Array, array.Tasks = api.Array{Tasks: 40, AtOnce: 8}, 8
	if got, want := write(t, `{"spank:begin-by":"now+1hour","array":"0-39%8"}`, api.PlanAnswer{Plan: &array}), "say promised: 8 of 40 tasks running by 2026-11-21T13:00:00 with probability 0.90 (estimate 0.93)\n"; !strings.Contains(got, want) ||
		!strings.Contains(got, "say the array lets so many tasks run at once (8); the other 32 follow, and of these nothing is promised\n") {
		t.Errorf("an array: %s", got)
	}
	if got := write(t, `{"spank:begin-by":"now+1hour","spank:accounts":"phys"}`, api.PlanAnswer{Plan: &plan}); !strings.Contains(got, "account phys\n") {
		t.Errorf("one of several accounts: %s", got)
	}
	got := write(t, `{"spank:begin-by":"now+1hour","spank:accounts":"phys,rrg","qos":"high,low"}`, api.PlanAnswer{Plan: &plan, Account: "rrg", QOS: "low"})
	for _, want := range []string{"account rrg\n", "qos low\n", "say the job gets account rrg: of the accounts named, none makes the promise cost less\n", "say the job gets QOS low: "} {
		if !strings.Contains(got, want) {
			t.Errorf("several accounts and QOS: no %q in %s", want, got)
		}
	}

	plan.HoldUntil = now + 1900
	if got := write(t, asked, api.PlanAnswer{Plan: &plan}); !strings.Contains(got,
		"running from 2026-11-21T12:31:40, by 2026-11-21T13:00:00, with") {
		t.Errorf("a window: %s", got)
	}

	plan.ID, plan.Comment, plan.HoldUntil = "", "", 0
	if diff := cmp.Diff("ticket 0:1795266000:3600:\n"+
		"say quoted, not promised: running by 2026-11-21T13:00:00, as soon as it can, with probability 0.90 (estimate 0.93)\n"+costs+"end\n",
		write(t, `{"spank:begin-by":"now+1hour","test-only":"set"}`, api.PlanAnswer{Plan: &plan})); diff != "" {
		t.Error(diff)
	}
}

func TestWriteRefusal(t *testing.T) {
	worst := api.Cost{NodeSeconds: 3600}
	refusal := api.Refusal{Reason: "too large\nfor us", Offers: []api.Offer{
		{Kind: api.OfferProb, Prob: .85, BeginBy: now + 3600, Worst: worst},
		{Kind: api.OfferLater, Prob: .9, BeginBy: now + 7200, HoldUntil: now + 6600, Worst: worst},
	}}
	want := "refuse no promise: too large for us\n" +
		"refuse nothing was submitted (asked for: running by 2026-11-21T13:00:00, in 01:00:00). Add one of these to the same command within a minute:\n" +
		"refuse possible: --prob=0.85   (probability 0.85, at most 1.00 node-hours, 0.00 billing-hours more)\n" +
		"refuse possible: --begin-by=2026-11-21T14:00:00   (probability 0.90, at most 1.00 node-hours, 0.00 billing-hours more)\nend\n"
	if diff := cmp.Diff(want, write(t, `{"spank:begin-by":"now+1hour"}`, api.PlanAnswer{Refusal: &refusal})); diff != "" {
		t.Error(diff)
	}
	var text strings.Builder
	if err := WriteError(&text, errors.Join(errors.New("one"), errors.New("two"))); err != nil || text.String() != "refuse one\nrefuse two\nend\n" {
		t.Errorf("%q, %v", text.String(), err)
	}
	if err := new(Submission).Write(&text, api.PlanAnswer{}); err == nil {
		t.Error("an answer that is none: no error")
	}
}

// FuzzRead checks that no options inject lines into the answer: each line is a refusal, and
// only the last is end.
func FuzzRead(f *testing.F) {
	f.Add(`{"spank:begin-by":"now+1hour","spank:prob":"90%","nodes":"2-4","gres":"gres:gpu:1","mem":"0?"}`)
	f.Add(`{"spank:begin-by":"\nend\nbegin uts1\n"}`)
	f.Fuzz(func(t *testing.T, options string) {
		s, err := Read([]byte(options), "sbatch", nil, now, time.UTC, ours)
		var text strings.Builder
		if err != nil {
			err = WriteError(&text, err)
		} else {
			err = s.Write(&text, api.PlanAnswer{Refusal: &api.Refusal{Reason: s.Request.Job.Partition}})
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
		for i, line := range lines {
			if last := i == len(lines)-1; last != (line == "end") || !last && !strings.HasPrefix(line, "refuse ") {
				t.Errorf("%q made line %q", options, line)
			}
		}
	})
}
