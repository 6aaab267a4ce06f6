package limits

import (
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// TestShares: a job that alone is more than a limit allows can never run; beside others that may
// still be there at the deadline it would wait for them.
func TestShares(t *testing.T) {
	const deadline = 10_000
	one := new(int64(1))
	none := new(int64(0))
	running := func(user, account, qos string, cpus int32, end int64) *workload.Job {
		return &workload.Job{
			ID: 7, Start: 1000,
			Request: workload.Request{User: user, Account: account, Partition: "main", QOS: qos, Size: workload.Size{Nodes: 1, CPUs: cpus}, Limit: end - 1000},
		}
	}
	waiting := func(user, account, qos string, cpus int32) *workload.Job {
		j := running(user, account, qos, cpus, 2000)
		j.Start = 0
		return j
	}
	begins := func(user, account string, at int64) *workload.Job {
		j := waiting(user, account, "normal", 4)
		j.Submit, j.Eligible = 500, at
		return j
	}
	const late = deadline + 1
	for _, v := range []struct {
		what string
		set  JobLimits // of QOS normal, or of a holder that edit chooses
		edit func(c *Cluster, l JobLimits)
		jobs []*workload.Job
		says string // the beginning, or "" if nothing is wrong
	}{
		{"too small", JobLimits{MinTRES: TRES{"cpu": 5}}, nil, nil, "QOS normal takes no job of less than 5 cpu (MinTRES=cpu)"},
		{"large enough", JobLimits{MinTRES: TRES{"cpu": 4}}, nil, nil, ""},
		{"too large for a user", JobLimits{PerUser: Share{TRES: TRES{"cpu": 3}}}, nil, nil, "QOS normal (of one user) allows 3 cpu (MaxTRESPU=cpu)"},
		{"too large for an account", JobLimits{PerAccount: Share{TRES: TRES{"cpu": 3}}}, nil, nil, "QOS normal (of one account) allows 3 cpu (MaxTRESPA=cpu)"},
		{"no jobs", JobLimits{PerUser: Share{Jobs: none}}, nil, nil, "QOS normal (of one user) allows no jobs (MaxJobsPU=0)"},
		{"no jobs of the group", JobLimits{Group: Share{Jobs: none}}, nil, nil, "QOS normal allows no jobs (GrpJobs=0)"},
		{"none to submit", JobLimits{PerUser: Share{Submitted: none}}, nil, nil, "QOS normal (of one user) allows no jobs (MaxSubmitJobsPU=0)"},
		{
			"her job runs", JobLimits{PerUser: Share{Jobs: one}}, nil, []*workload.Job{running("alice", "physics", "normal", 1, late)},
			"QOS normal (of one user) allows 1 jobs at once (MaxJobsPU), and until the deadline your other jobs may have 1; when they end cannot be forecast",
		},
		{"it ends before the deadline", JobLimits{PerUser: Share{Jobs: one}}, nil, []*workload.Job{running("alice", "physics", "normal", 1, deadline)}, ""},
		{"her job waits", JobLimits{PerUser: Share{Jobs: one}}, nil, []*workload.Job{waiting("alice", "physics", "normal", 1)}, "QOS normal (of one user) allows 1 jobs at once"},
		{"in another QOS", JobLimits{PerUser: Share{Jobs: one}}, nil, []*workload.Job{waiting("alice", "physics", "urgent", 1)}, ""},
		{"another's", JobLimits{PerUser: Share{Jobs: one}}, nil, []*workload.Job{running("bob", "physics", "normal", 1, late)}, ""},
		{
			"CPUs of hers", JobLimits{PerUser: Share{TRES: TRES{"cpu": 7}}}, nil, []*workload.Job{running("alice", "physics", "normal", 4, late)},
			"QOS normal (of one user) allows 7 cpu at once (MaxTRESPU=cpu), and until the deadline your other jobs may have 4",
		},
		{"CPUs enough", JobLimits{PerUser: Share{TRES: TRES{"cpu": 8}}}, nil, []*workload.Job{running("alice", "physics", "normal", 4, late)}, ""},
		{
			"CPUs of all", JobLimits{GrpTRES: TRES{"cpu": 7}}, nil, []*workload.Job{running("bob", "astro", "normal", 4, late)},
			"QOS normal allows 7 cpu at once (GrpTRES=cpu), and until the deadline other jobs may have 4",
		},
		{"her job begins while it runs", JobLimits{PerUser: Share{Jobs: one}}, nil, []*workload.Job{begins("alice", "physics", deadline+59)}, "QOS normal (of one user) allows 1 jobs at once"},
		{"her job begins when it has ended", JobLimits{PerUser: Share{Jobs: one}}, nil, []*workload.Job{begins("alice", "physics", deadline+60)}, ""},
		{
			"another's job begins while it runs", JobLimits{Group: Share{Jobs: one}}, nil, []*workload.Job{begins("bob", "astro", 3000)},
			"QOS normal allows 1 jobs at once (GrpJobs), and until the deadline other jobs may have 1",
		},
		{
			"CPUs of another's job that begins while it runs", JobLimits{GrpTRES: TRES{"cpu": 7}}, nil, []*workload.Job{begins("bob", "astro", 3000)},
			"QOS normal allows 7 cpu at once (GrpTRES=cpu), and until the deadline other jobs may have 4",
		},
		{"another's job begins when it has ended", JobLimits{Group: Share{Jobs: one}}, nil, []*workload.Job{begins("bob", "astro", deadline+60)}, ""},
		{"others' jobs that wait", JobLimits{GrpTRES: TRES{"cpu": 7}}, nil, []*workload.Job{waiting("bob", "astro", "normal", 4)}, ""},
		{
			"in the queue", JobLimits{PerUser: Share{Submitted: one}}, nil, []*workload.Job{running("alice", "physics", "normal", 1, deadline)},
			"QOS normal (of one user) allows 1 jobs in the queue at once (MaxSubmitJobsPU), and there are 1",
		},
		{
			"of the association", JobLimits{PerUser: Share{Jobs: one}}, ofUser, []*workload.Job{running("alice", "physics", "urgent", 1, late)},
			"user alice in account physics allows 1 jobs at once (MaxJobs)",
		},
		{
			"of the account", JobLimits{Group: Share{Jobs: one}}, ofAccount, []*workload.Job{running("bob", "physics", "urgent", 1, late)},
			"account physics allows 1 jobs at once (GrpJobs)",
		},
		{
			"the QOS has its own", JobLimits{PerUser: Share{Jobs: one}}, func(c *Cluster, l JobLimits) {
				ofUser(c, l)
				q := c.QOS["normal"]
				q.PerUser.Jobs = new(int64(5))
				c.QOS["normal"] = q
			}, []*workload.Job{running("alice", "physics", "normal", 1, late)}, "",
		},
		{
			"the QOS limits other TRES", JobLimits{GrpTRES: TRES{"cpu": 7}}, func(c *Cluster, l JobLimits) {
				ofAccount(c, l)
				q := c.QOS["normal"]
				q.GrpTRES = TRES{"node": 100}
				c.QOS["normal"] = q
			}, []*workload.Job{running("bob", "physics", "urgent", 4, late)}, "account physics allows 7 cpu at once (GrpTRES=cpu)",
		},
		{
			"the QOS has another", JobLimits{PerUser: Share{Jobs: one}}, func(c *Cluster, l JobLimits) {
				ofUser(c, l)
				q := c.QOS["normal"]
				q.PerUser.TRES = TRES{"cpu": 100}
				c.QOS["normal"] = q
			}, []*workload.Job{running("alice", "physics", "normal", 1, late)}, "user alice in account physics allows 1 jobs at once (MaxJobs)",
		},
	} {
		c := plain()
		if v.edit == nil {
			v.edit = func(c *Cluster, l JobLimits) { c.QOS["normal"] = QOS{Name: "normal", JobLimits: l} }
		}
		v.set.MaxWall = None
		v.edit(c, v.set)
		r := workload.Request{User: "alice", Account: "physics", Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 4}, Limit: 60}
		rule := c.Job(r, nil).CheckSize()
		if rule == nil {
			rule = c.Job(r, nil).CheckShares(0, deadline, slices.Values(v.jobs))
		}
		says := ""
		if rule != nil {
			says = rule.Says
		}
		if !strings.HasPrefix(says, v.says) || v.says == "" && says != "" {
			t.Errorf("%s: %q, wanted %q", v.what, says, v.says)
		}
		if rule := c.Job(r, nil).CheckShares(7, deadline, slices.Values(v.jobs)); rule != nil && len(v.jobs) > 0 {
			t.Errorf("%s: the job is counted beside itself: %s", v.what, rule.Says)
		}
	}
}

// TestLimitBeside: other jobs take of the minutes that all running jobs together may have left,
// those that run what is left of their time limits at the deadline, and those that wait all of it.
func TestLimitBeside(t *testing.T) {
	const deadline = 10_000
	job := func(user, account, qos string, cpus int32, limit int64) *workload.Job {
		return &workload.Job{ID: 7, Submit: 500, Eligible: 500, Request: workload.Request{
			User: user, Account: account, Partition: "main", QOS: qos, Size: workload.Size{Nodes: 1, CPUs: cpus}, Limit: limit,
		}}
	}
	running := func(user, account, qos string, cpus int32, left int64) *workload.Job {
		j := job(user, account, qos, cpus, deadline+left-1000)
		j.Start = 1000
		return j
	}
	promised := func(user, account, qos string, cpus int32, limit, at int64) *workload.Job {
		j := job(user, account, qos, cpus, limit)
		j.Eligible = at
		return j
	}
	l := JobLimits{GrpTRESRunMins: TRES{"cpu": 100, "node": None}}
	ofQOS := func(c *Cluster, l JobLimits) { c.QOS["normal"] = QOS{Name: "normal", JobLimits: l} }
	for _, v := range []struct {
		what string
		edit func(c *Cluster, l JobLimits)
		jobs []*workload.Job
		want int64 // for a job of 4 CPUs
		says string
	}{
		{"no limit", func(*Cluster, JobLimits) {}, []*workload.Job{running("alice", "physics", "normal", 4, 600)}, None, ""},
		{"no other job", ofQOS, nil, None, ""},
		{
			// 40.07 CPU-minutes
			"one runs", ofQOS, []*workload.Job{running("bob", "astro", "normal", 4, 601)}, 14 * 60,
			"QOS normal leaves a job of this size 00:14:00 beside other jobs that may run at the deadline (GrpTRESRunMins=cpu)",
		},
		{"it ends before the deadline", ofQOS, []*workload.Job{running("bob", "astro", "normal", 4, 0)}, None, ""},
		{"one is promised", ofQOS, []*workload.Job{promised("bob", "astro", "normal", 4, 600, 3000)}, 15 * 60, "QOS normal leaves"},
		{"one runs and one is promised", ofQOS, []*workload.Job{
			running("bob", "astro", "normal", 4, 600), promised("bob", "astro", "normal", 4, 600, 3000),
		}, 5 * 60, "QOS normal leaves"},
		{"it is promised for a time after the job", ofQOS, []*workload.Job{promised("bob", "astro", "normal", 4, 600, deadline+60)}, None, ""},
		{"another's that waits", ofQOS, []*workload.Job{job("bob", "astro", "normal", 4, 600)}, None, ""},
		{"in another QOS", ofQOS, []*workload.Job{running("bob", "astro", "urgent", 4, 600)}, None, ""},
		{"nothing left", ofQOS, []*workload.Job{running("bob", "astro", "normal", 4, 60_000)}, 0, "QOS normal leaves a job of this size 00:00:00"},
		{
			"of the association", ofUser, []*workload.Job{job("alice", "physics", "urgent", 4, 600)}, 15 * 60,
			"user alice in account physics leaves a job of this size 00:15:00 beside your other jobs that may run at the deadline (GrpTRESRunMins=cpu)",
		},
		{"of another's association", ofUser, []*workload.Job{running("bob", "physics", "urgent", 4, 600)}, None, ""},
		{"of the account", ofAccount, []*workload.Job{running("bob", "physics", "urgent", 4, 600)}, 15 * 60, "account physics leaves"},
		{"the QOS has its own", func(c *Cluster, l JobLimits) {
			ofAccount(c, l)
			ofQOS(c, JobLimits{GrpTRESRunMins: TRES{"cpu": 1000}})
		}, []*workload.Job{running("bob", "physics", "urgent", 4, 600)}, None, ""},
		{"the QOS has another", func(c *Cluster, l JobLimits) {
			ofAccount(c, l)
			ofQOS(c, JobLimits{GrpTRESRunMins: TRES{"node": 1000}})
		}, []*workload.Job{running("bob", "physics", "urgent", 4, 600)}, 15 * 60, "account physics leaves"},
	} {
		c := plain()
		v.edit(c, l)
		r := workload.Request{User: "alice", Account: "physics", Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 4}, Limit: 60}
		got, by := c.Job(r, nil).LimitBeside(0, deadline, slices.Values(v.jobs))
		if got != v.want || !strings.HasPrefix(by.Says, v.says) || v.says == "" && by.Says != "" {
			t.Errorf("%s: %d, %q, wanted %d, %q", v.what, got, by.Says, v.want, v.says)
		}
		if got, by := c.Job(r, nil).LimitBeside(7, deadline, slices.Values(v.jobs)); got != None {
			t.Errorf("%s: the job is counted beside itself: %s", v.what, by.Says)
		}
		if rule := c.Job(r, nil).CheckShares(0, deadline, slices.Values(v.jobs)); rule != nil {
			t.Errorf("%s: %s", v.what, rule.Says)
		}
	}
}

// plain returns a cluster without limits, with the user alice of account physics.
func plain() *Cluster {
	return &Cluster{
		Partitions: map[string]Partition{"main": {Name: "main", Up: true, MaxTime: None, MaxNodes: None, Nodes: []string{"n1", "n2"}}},
		QOS:        map[string]QOS{},
		Associations: []Association{
			{Account: "physics", Parent: "root"}, {Account: "physics", User: "alice"}, {Account: "root"},
		},
	}
}

func ofUser(c *Cluster, l JobLimits)    { c.Associations[1].JobLimits = l }
func ofAccount(c *Cluster, l JobLimits) { c.Associations[0].JobLimits = l }
