package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// assigns gives jobs of some minutes the partition short, and longer ones the partition tight, as
// sites do that do not let users choose.
const assigns = `function slurm_job_submit(job, partitions, uid)
	if job.partition == nil and job.time_limit <= 7 then job.partition = "short" end
	if job.partition == nil and job.time_limit > 40 then job.partition = "tight" end
	if job.name == "cut" then job.time_limit = 1 end
	if job.name == "wide" then job.min_cpus = 2 job.num_tasks = 2 end
	if job.name == "big" then job.min_mem_per_node = 300 end
	if job.name == "alone" then job.shared = 0 end
	if job.name == "deep" then job.cpus_per_task = 2 end
	if job.name == "broad" then job.min_nodes = 2 job.max_nodes = 2 end
	if job.name == "after" then job.dependency = "singleton" end
	if job.name == "shorter" then job.time_min = 1 end
	if job.name == "few" then job.exc_nodes = "node[1-6]" end
	if job.comment == "rejected" then return slurm.ERROR end
	return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, uid) return slurm.SUCCESS end
return slurm.SUCCESS
`

// wary are settings of a site that hides from its users what it can, and lets jobs gather age
// before they may start.
const wary = `PriorityFlags=ACCRUE_ALWAYS
PriorityWeightAge=1000
PrivateData=accounts,events,jobs,nodes,reservations,usage,users
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
CliFilterPlugins=syslog,lua,user_defaults
`

// TestSubmitPlugin: where a plugin of the site gives a job another partition while it is submitted,
// the promise is about the job as it was accepted, or it is taken back before sbatch returns, and
// no nodes are held for it.
func TestSubmitPlugin(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{
		History: func(yield func(workload.Job, error) bool) {
			for j, err := range site.Calm(time.Now().Unix()) {
				if j.ID%3 == 0 {
					j.Partition = "short"
				}
				if !yield(j, err) {
					return
				}
			}
		},
		SlurmConf: wary + "JobSubmitPlugins=lua\nPartitionName=main Nodes=ALL Default=YES MaxTime=2-0 DefaultTime=60\n" +
			"PartitionName=short Nodes=ALL MaxTime=2-0\nPartitionName=tight Nodes=ALL MaxTime=60\n",
		JobSubmit: assigns,
	})
	t.Run("kept elsewhere", func(t *testing.T) {
		s.InTime(t, lead, func(lead time.Duration) bool {
			option, _ := deadlineIn(lead)
			run := mustRun(t, s, "alice", "sbatch", "--parsable", "--prob=0.6", "--time=5", option, "-N1", "-o/dev/null", "--wrap=sleep 2")
			for _, want := range []string{"varq: promised: running by", "its partition is short instead of main; the promise holds there, where the work costs"} {
				if !strings.Contains(run.Stderr, want) {
					t.Errorf("sbatch said %q, not %q", run.Stderr, want)
				}
			}
			id, err := strconv.ParseInt(strings.TrimSpace(run.Stdout), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			r := settled(t, s, "alice", id, api.StateKept, api.StateMissed)
			if r.Partition != "short" {
				t.Errorf("the promise is about partition %s", r.Partition)
			}
			return r.State == api.StateKept
		})
	})
	t.Run("taken back", func(t *testing.T) {
		option, at := deadlineIn(2 * time.Hour)
		run, err := s.Run(t.Context(), "alice", "sbatch", "--parsable", "--prob=0.6", "--time=60", option, "-N1", "-o/dev/null", "--wrap=sleep 2")
		if err != nil || run.Code != 0 {
			t.Fatalf("%v: %+v", err, run)
		}
		if !strings.Contains(run.Stderr, "varq: no promise: nothing is promised about job ") || strings.Contains(run.Stderr, "promised: running") {
			t.Errorf("sbatch said %q", run.Stderr)
		}
		id := strings.TrimSpace(run.Stdout)
		number, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		job, err := s.Job(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := job["EligibleTime"], time.Unix(at, 0).Format("2006-01-02T15:04:05"); got != want {
			t.Errorf("the job may hold nodes: it is eligible at %s, and its work starts at %s", got, want)
		}
		if said := mustRun(t, s, "alice", "varq", "status", id).Stdout; !strings.Contains(said, "its partition is tight instead of main, and partition tight allows") {
			t.Errorf("status tells %q", said)
		}
		if job["TimeLimit"] != "01:00:00" {
			t.Errorf("the job keeps a time limit of %s for its hold", job["TimeLimit"])
		}
		// its user lets it start, and it holds no nodes
		mustRun(t, s, "alice", "scontrol", "update", "JobId="+id, "StartTime=now")
		eventually(t, "the end of the work", func() bool {
			job, err := s.Job(t.Context(), number)
			return err == nil && job["JobState"] == "COMPLETED"
		})
	})
	t.Run("altered", func(t *testing.T) {
		first := strings.TrimSpace(mustRun(t, s, "alice", "sbatch", "--parsable", "--hold", "--job-name=after", "-o/dev/null", "--wrap=true").Stdout)
		defer mustRun(t, s, "root", "scancel", first)
		for name, want := range map[string]string{
			"cut": "its time limit is 00:01:00 instead of ", "wide": "it asks for 2 CPUs instead of 1",
			"deep": "it asks for 2 CPUs instead of 1", "broad": "it asks for 2 nodes instead of 1",
			"after": "it waits for other jobs: its dependency is singleton", "shorter": "Slurm may lower its time limit, to 00:01:00",
			"big": "it takes 300 MiB of memory instead of 100", "alone": "it shares its nodes with no other job",
		} {
			option, _ := deadlineIn(2 * time.Hour)
			run, err := s.Run(t.Context(), "alice", "sbatch", "--parsable", "--job-name="+name, "--prob=0.6", "--time=30", option, "-N1", "-p", "main", "-o/dev/null", "--wrap=sleep 2")
			if err != nil || run.Code != 0 || strings.Contains(run.Stderr, "promised: running") || !strings.Contains(run.Stderr, want) {
				t.Errorf("%s: %v: %+v", name, err, run)
			}
			mustRun(t, s, "root", "scancel", strings.TrimSpace(run.Stdout))
		}
	})
	t.Run("on fewer nodes", func(t *testing.T) {
		option, _ := deadlineIn(2 * time.Hour)
		run := mustRun(t, s, "alice", "sbatch", "--parsable", "--job-name=few", "--prob=0.6", "--time=30", option, "-N1", "-p", "main", "-o/dev/null", "--wrap=sleep 2")
		if want := "it may run on node[7-8] alone"; !strings.Contains(run.Stderr, want) {
			t.Errorf("sbatch said %q, not %q", run.Stderr, want)
		}
		mustRun(t, s, "root", "scancel", strings.TrimSpace(run.Stdout))
	})
	t.Run("as asked", func(t *testing.T) {
		option, _ := deadlineIn(2 * time.Hour)
		run := mustRun(t, s, "alice", "sbatch", "--parsable", "--prob=0.6", "--time=30", option, "-N1", "-o/dev/null", "--wrap=sleep 2")
		if !strings.Contains(run.Stderr, "varq: promised: running by") || strings.Contains(run.Stderr, "otherwise") {
			t.Errorf("sbatch said %q", run.Stderr)
		}
		mustRun(t, s, "root", "scancel", strings.TrimSpace(run.Stdout))
	})
	t.Run("settings", func(t *testing.T) {
		found := clinic{s, t}.live()
		for of, want := range map[string]string{
			"job_submit": "lua may change jobs", "priority": "ACCRUE_ALWAYS", "privacy": "not their names (reservations)", "comment": "job_submit.lua reads the comment",
		} {
			if !strings.Contains(found[of].Found, want) {
				t.Errorf("%s: %+v", of, found[of])
			}
		}
	})
	t.Run("inside of a reservation", func(t *testing.T) { insideReservation(t, s) })
	t.Run("hidden reservation", func(t *testing.T) {
		mustRun(t, s, "root", "scontrol", "create", "reservation", "ReservationName=secret", "StartTime=now+90minutes", "Duration=60", "Users=root", "Nodes=ALL")
		eventually(t, "a refusal", func() bool {
			r, err := s.Run(t.Context(), "alice", "varq", "quote", "--begin-by=now+100minutes", "--prob=0.5", "--time=30", "-N1")
			if err != nil {
				t.Fatal(err)
			}
			said := r.Stdout + r.Stderr
			if strings.Contains(said, "secret") {
				t.Fatalf("alice reads %q", said)
			}
			return strings.Contains(said, "one of Slurm's reservations leaves partition main 0 of 8 nodes")
		})
		nodes, err := s.Run(t.Context(), "alice", "varq", "nodes")
		if err != nil || !strings.Contains(nodes.Stderr, "PrivateData=nodes") {
			t.Errorf("%v: %+v", err, nodes)
		}
	})
}
