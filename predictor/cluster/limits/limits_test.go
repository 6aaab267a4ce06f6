package limits

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

const (
	minute = 60
	hour   = 3600
	day    = 86400
)

// cluster has the partitions "main" (default, 8 nodes of 16 CPUs), "short" (with the QOS
// "fast") and "old" (not up). Its accounts are root, physics below root, and plasma below
// physics. alice is in plasma, her default, and in physics.
func cluster() *Cluster {
	nodes := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("n%d", i+1))
		}
		return names
	}
	return &Cluster{
		Partitions: map[string]Partition{
			"main": {
				Name: "main", Default: true, Up: true, MaxTime: 2 * day, DefaultTime: hour, MaxNodes: None,
				Nodes: nodes(8), TotalCPUs: 128,
			},
			"short": {
				Name: "short", Up: true, MaxTime: None, DefaultTime: None, MaxNodes: 2,
				Nodes: nodes(4), TotalCPUs: 64, QOS: "fast",
			},
			"old": {Name: "old", MaxTime: None, DefaultTime: None, MaxNodes: None, Nodes: nodes(1)},
		},
		QOS: map[string]QOS{
			"normal": {Name: "normal", JobLimits: JobLimits{MaxWall: None}},
			"fast":   {Name: "fast", JobLimits: JobLimits{MaxWall: 30 * minute}},
			"urgent": {Name: "urgent", OverPartQOS: true, JobLimits: JobLimits{MaxWall: 3 * hour}},
		},
		Associations: []Association{
			{Account: "root", DefaultQOS: "normal", JobLimits: JobLimits{MaxWall: None}},
			{Account: "physics", Parent: "root", JobLimits: JobLimits{MaxWall: 10 * hour}},
			{Account: "plasma", Parent: "physics", JobLimits: JobLimits{MaxWall: None}},
			{Account: "plasma", User: "alice", Default: true, JobLimits: JobLimits{MaxWall: None}},
			{Account: "physics", User: "alice", DefaultQOS: "urgent", JobLimits: JobLimits{MaxWall: None}},
		},
	}
}

func job(nodes int32) workload.Request {
	return workload.Request{
		User: "alice", Account: "plasma", Partition: "main", QOS: "normal",
		Size: workload.Size{Nodes: nodes, CPUs: 16 * nodes, GPUs: 2 * nodes, Memory: 1024 * int64(nodes)}, Limit: hour,
	}
}

func TestComplete(t *testing.T) {
	c := cluster()
	for _, v := range []struct {
		name     string
		in, want workload.Request
	}{
		{
			"everything", workload.Request{User: "alice"},
			workload.Request{
				User: "alice", Account: "plasma", Partition: "main", QOS: "normal",
				Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: hour,
			},
		},
		{"nothing", job(2), job(2)},
		{
			"the QOS of the association", workload.Request{User: "alice", Account: "physics", Size: workload.Size{Nodes: 3}},
			workload.Request{
				User: "alice", Account: "physics", Partition: "main", QOS: "urgent",
				Size: workload.Size{Nodes: 3, CPUs: 3}, Limit: hour,
			},
		},
		{
			"no time limit, where the partition's QOS has one", workload.Request{User: "eve", Partition: "short"},
			workload.Request{User: "eve", Partition: "short", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: 30 * minute},
		},
		{
			"nobody", workload.Request{User: "eve", Partition: "short", Limit: minute},
			workload.Request{User: "eve", Partition: "short", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: minute},
		},
		{
			"a QOS in capitals", workload.Request{User: "alice", QOS: "NORMAL", Limit: minute},
			workload.Request{
				User: "alice", Account: "plasma", Partition: "main", QOS: "normal",
				Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: minute,
			},
		},
	} {
		t.Run(v.name, func(t *testing.T) {
			got, err := c.Complete(v.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(v.want, got); diff != "" {
				t.Error(diff)
			}
			if again, err := c.Complete(got); err != nil || again != got {
				t.Errorf("completed again: %+v, %v", again, err)
			}
		})
	}
}

// TestDefaultQOS: who names no QOS gets the association's default, else its only one, else normal.
func TestDefaultQOS(t *testing.T) {
	for _, v := range []struct {
		of   string // default of alice's association
		may  []string
		root string // default of the root
		want string
	}{
		{of: "fast", may: []string{"fast", "normal"}, root: "urgent", want: "fast"},
		{may: []string{"fast", "normal"}, root: "urgent", want: "urgent"},
		{may: []string{"fast"}, want: "fast"},
		{may: []string{"fast", "urgent"}, want: "normal"},
		{want: "normal"},
	} {
		c := cluster()
		c.Associations[0].DefaultQOS = v.root
		c.Associations[3].DefaultQOS, c.Associations[3].QOS = v.of, v.may
		r, err := c.Complete(workload.Request{User: "alice"})
		if err != nil || r.QOS != v.want {
			t.Errorf("%+v: %q, %v", v, r.QOS, err)
		}
	}
}

func TestCompleteRefuses(t *testing.T) {
	for _, v := range []struct {
		in   workload.Request
		want string
	}{
		{workload.Request{Partition: "nowhere"}, `no partition "nowhere" (there are endless, main, old, short)`},
		{workload.Request{Partition: "main,short"}, "partition main,short: these are several, and varq looks at one: name it"},
		{workload.Request{Partition: "old"}, "partition old is down"},
		{workload.Request{Partition: "endless"}, "no time limit given, and partition endless has none: say with --time how long the work takes at most"},
		{workload.Request{QOS: "gold"}, `unknown QOS "gold"`},
	} {
		c := cluster()
		c.Partitions["endless"] = Partition{Name: "endless", Up: true, MaxTime: None, DefaultTime: None, MaxNodes: None}
		if _, err := c.Complete(v.in); err == nil || err.Error() != v.want {
			t.Errorf("%+v: %v, want %q", v.in, err, v.want)
		}
	}
	many := &Cluster{Partitions: map[string]Partition{}}
	if got := many.NoPartition("x"); got != `no partition "x"` {
		t.Error(got)
	}
	for i := range 14 {
		many.Partitions[string(rune('a'+i))] = Partition{}
	}
	if got := many.NoPartition("x"); got != `no partition "x" (there are a, b, c, d, e, f, g, h, i, j, k, l and 2 more)` {
		t.Error(got)
	}
	unknown := cluster()
	unknown.QOS = nil
	if r, err := unknown.Complete(workload.Request{QOS: "gold"}); err != nil || r.QOS != "gold" {
		t.Errorf("a QOS where none are known: %+v, %v", r, err)
	}
	if _, err := (&Cluster{}).Complete(workload.Request{}); err == nil {
		t.Error("a cluster without partitions takes jobs")
	}
}

// Where Slurm wants an association, users without one are refused, and nobody else.
func TestCompleteWantsAnAssociation(t *testing.T) {
	c := cluster()
	for _, enforced := range []bool{false, true} {
		c.AssociationsEnforced = enforced
		if _, err := c.Complete(workload.Request{User: "alice"}); err != nil {
			t.Errorf("enforced %v: alice: %v", enforced, err)
		}
		for _, user := range []string{"nobody", ""} {
			_, err := c.Complete(workload.Request{User: user})
			if (err != nil) != enforced || err != nil && !strings.Contains(err.Error(), "user "+user+" has no account") {
				t.Errorf("enforced %v: user %q: %v", enforced, user, err)
			}
		}
	}
}

func TestMaxLimit(t *testing.T) {
	for _, v := range []struct {
		name    string
		edit    func(*Cluster, *workload.Request)
		seconds int64
		rule    string
		says    string
	}{
		{
			"the account's MaxWall is inherited", nil,
			10 * hour, "account physics MaxWall", "account physics allows 10:00:00 (MaxWall)",
		},
		{
			"MaxTime of the partition", func(_ *Cluster, r *workload.Request) { r.Account = "" },
			2 * day, "partition main MaxTime", "partition main allows 2-00:00:00 (MaxTime)",
		},
		{
			"nothing", func(_ *Cluster, r *workload.Request) { r.Account, r.Partition = "", "elsewhere" },
			None, "", "",
		},
		{
			"the QOS before the association", func(_ *Cluster, r *workload.Request) { r.QOS = "urgent" },
			3 * hour, "QOS urgent MaxWall", "",
		},
		{
			"the partition's QOS before the association", func(_ *Cluster, r *workload.Request) { r.Partition = "short" },
			30 * minute, "QOS fast MaxWall", "",
		},
		{
			"OverPartQOS", func(_ *Cluster, r *workload.Request) { r.Partition, r.QOS = "short", "urgent" },
			3 * hour, "QOS urgent MaxWall", "",
		},
		{
			"the user before the account", func(c *Cluster, _ *workload.Request) { c.Associations[3].MaxWall = 20 * hour },
			20 * hour, "user alice in account plasma MaxWall", "user alice in account plasma allows 20:00:00 (MaxWall)",
		},
		{
			"the partition's own association", func(c *Cluster, _ *workload.Request) {
				a := c.Associations[3]
				a.Partition, a.MaxWall = "main", hour
				c.Associations = append(c.Associations, a)
			},
			hour, "user alice in account plasma MaxWall", "",
		},
		{
			"another partition's association", func(c *Cluster, _ *workload.Request) {
				a := c.Associations[3]
				a.Partition, a.MaxWall = "short", hour
				c.Associations = append(c.Associations, a)
			},
			10 * hour, "account physics MaxWall", "",
		},
		{
			"MaxTime beside a longer MaxWall", func(c *Cluster, _ *workload.Request) { c.Associations[3].MaxWall = 5 * day },
			2 * day, "partition main MaxTime", "",
		},
		{
			"PartitionTimeLimit", func(c *Cluster, _ *workload.Request) {
				c.QOS["normal"] = QOS{PartitionTimeLimit: true, JobLimits: JobLimits{MaxWall: 5 * day}}
			},
			5 * day, "QOS normal MaxWall", "",
		},
		{
			"MaxTRESMins", func(c *Cluster, _ *workload.Request) { c.Associations[2].MaxTRESMins = TRES{"cpu": 32*100 + 31} },
			100 * minute, "account plasma MaxTRESMins=cpu", "account plasma allows 01:40:00 to a job of this size (MaxTRESMins=cpu)",
		},
		{
			"MaxTRESMins, the QOS first", func(c *Cluster, _ *workload.Request) {
				c.Associations[2].MaxTRESMins = TRES{"cpu": 3200, "node": 2 * 50}
				c.QOS["normal"] = QOS{JobLimits: JobLimits{MaxTRESMins: TRES{"cpu": 32 * 300}}}
			},
			50 * minute, "account plasma MaxTRESMins=node", "",
		},
		{
			"GrpTRESRunMins", func(c *Cluster, _ *workload.Request) { c.Associations[2].GrpTRESRunMins = TRES{"cpu": 32*100 + 31} },
			100 * minute, "account plasma GrpTRESRunMins=cpu", "account plasma allows 01:40:00 to a job of this size (GrpTRESRunMins=cpu)",
		},
		{
			"GrpTRESRunMins, the QOS instead of all associations", func(c *Cluster, _ *workload.Request) {
				c.Associations[2].GrpTRESRunMins = TRES{"cpu": 32}
				c.QOS["normal"] = QOS{JobLimits: JobLimits{GrpTRESRunMins: TRES{"cpu": 32 * 300}}}
			},
			300 * minute, "QOS normal GrpTRESRunMins=cpu", "",
		},
		{
			"of a TRES not asked for", func(c *Cluster, _ *workload.Request) { c.Associations[2].MaxTRESMins = TRES{"license/matlab": 1} },
			10 * hour, "account physics MaxWall", "",
		},
		{
			"MaxTRESMins of memory and of billing", func(c *Cluster, _ *workload.Request) {
				c.Associations[2].MaxTRESMins = TRES{"mem": 2048 * 90, "billing": 32 * 80}
			},
			80 * minute, "account plasma MaxTRESMins=billing", "",
		},
		{
			"what is left of GrpTRESMins", func(c *Cluster, _ *workload.Request) {
				c.Associations[1].GrpTRESMins = TRES{"gres/gpu": 1000}
				c.Associations[1].UsedTRESMins = TRES{"gres/gpu": 1000 - 4*45}
			},
			45 * minute, "account physics GrpTRESMins=gres/gpu", "",
		},
		{
			"GrpTRESMins used up", func(c *Cluster, _ *workload.Request) {
				c.Associations[0].GrpTRESMins = TRES{"cpu": 1000}
				c.Associations[0].UsedTRESMins = TRES{"cpu": 2000}
			},
			0, "account root GrpTRESMins=cpu", "account root has 00:00:00 left for a job of this size (GrpTRESMins=cpu)",
		},
		{
			"every account's GrpTRESMins", func(c *Cluster, _ *workload.Request) {
				c.Associations[0].GrpTRESMins = TRES{"cpu": 32 * 10}
				c.Associations[2].GrpTRESMins = TRES{"cpu": 32 * 20}
			},
			10 * minute, "account root GrpTRESMins=cpu", "",
		},
		{
			"but not where the QOS sets it", func(c *Cluster, _ *workload.Request) {
				c.Associations[0].GrpTRESMins = TRES{"cpu": 32 * 10}
				c.QOS["normal"] = QOS{JobLimits: JobLimits{GrpTRESMins: TRES{"cpu": 32 * 15}}}
			},
			15 * minute, "QOS normal GrpTRESMins=cpu", "",
		},
		{
			"an account that is its own parent", func(c *Cluster, _ *workload.Request) { c.Associations[0].Parent = "plasma" },
			10 * hour, "account physics MaxWall", "",
		},
	} {
		t.Run(v.name, func(t *testing.T) {
			c, r := cluster(), job(2)
			if v.edit != nil {
				v.edit(c, &r)
			}
			seconds, rule := c.Job(r, nil).MaxLimit()
			if seconds != v.seconds || rule.Name != v.rule || v.says != "" && rule.Says != v.says {
				t.Errorf("%d by %+v, want %d by %s: %s", seconds, rule, v.seconds, v.rule, v.says)
			}
		})
	}
}

func TestCheckSize(t *testing.T) {
	for _, v := range []struct {
		name  string
		nodes int32
		edit  func(*Cluster, *workload.Request)
		rule  string
		says  string
	}{
		{"fits", 8, nil, "", ""},
		{"nodes", 9, nil, "partition main size", "partition main has 8 nodes"},
		{
			"CPUs", 8, func(_ *Cluster, r *workload.Request) { r.CPUs = 129 },
			"partition main size", "partition main has 128 CPUs",
		},
		{
			"MaxNodes", 3, func(_ *Cluster, r *workload.Request) { r.Partition = "short" },
			"partition short MaxNodes", "partition short allows 2 nodes a job (MaxNodes)",
		},
		{
			"MinNodes", 1, func(c *Cluster, r *workload.Request) {
				r.Partition = "short"
				p := c.Partitions["short"]
				p.MinNodes = 2
				c.Partitions["short"] = p
			},
			"partition short MinNodes", "partition short takes no job of less than 2 nodes (MinNodes)",
		},
		{
			"PartitionMinNodes", 1, func(c *Cluster, r *workload.Request) {
				r.Partition, r.QOS = "short", "fast"
				p := c.Partitions["short"]
				p.MinNodes = 2
				c.Partitions["short"] = p
				c.QOS["fast"] = QOS{PartitionMinNodes: true}
			},
			"", "",
		},
		{
			"PartitionMaxNodes", 3, func(c *Cluster, r *workload.Request) {
				r.Partition = "short"
				c.QOS["fast"] = QOS{PartitionMaxNodes: true}
			},
			"", "",
		},
		{
			"MaxTRES of the account", 3, func(c *Cluster, _ *workload.Request) { c.Associations[1].MaxTRES = TRES{"cpu": 47} },
			"account physics MaxTRES=cpu", "account physics allows 47 cpu (MaxTRES=cpu)",
		},
		{
			"MaxTRESPerNode", 3, func(c *Cluster, _ *workload.Request) { c.Associations[1].MaxTRESPerNode = TRES{"cpu": 15, "mem": 1024} },
			"account physics MaxTRESPerNode=cpu", "account physics allows 15 cpu a node (MaxTRESPerNode=cpu)",
		},
		{
			"MaxTRESPerNode, rounded down as in Slurm", 3, func(c *Cluster, r *workload.Request) {
				r.CPUs += 2
				c.Associations[1].MaxTRESPerNode = TRES{"cpu": 16}
			}, "", "",
		},
		{
			"MaxTRESPerNode, with the memory by default", 3, func(c *Cluster, r *workload.Request) {
				r.Memory = 0
				p := c.Partitions["main"]
				p.DefMemPerCPU = 100
				c.Partitions["main"] = p
				c.Associations[1].MaxTRESPerNode = TRES{"mem": 1599}
			},
			"account physics MaxTRESPerNode=mem", "account physics allows 1599 mem a node (MaxTRESPerNode=mem)",
		},
		{
			"MaxTRESPerNode of the QOS comes first", 3, func(c *Cluster, _ *workload.Request) {
				c.Associations[1].MaxTRESPerNode = TRES{"cpu": 15}
				c.QOS["normal"] = QOS{JobLimits: JobLimits{MaxTRESPerNode: TRES{"cpu": 16}}}
			}, "", "",
		},
		{
			"MaxTRES of the QOS comes first", 3, func(c *Cluster, _ *workload.Request) {
				c.Associations[1].MaxTRES = TRES{"cpu": 47}
				c.QOS["normal"] = QOS{JobLimits: JobLimits{MaxTRES: TRES{"cpu": 48}}}
			},
			"", "",
		},
		{
			"GrpTRES", 3, func(c *Cluster, _ *workload.Request) { c.Associations[0].GrpTRES = TRES{"gres/gpu": 5, "node": None} },
			"account root GrpTRES=gres/gpu", "account root allows 5 gres/gpu (GrpTRES=gres/gpu)",
		},
		{
			"every account's GrpTRES", 3, func(c *Cluster, _ *workload.Request) {
				c.Associations[2].GrpTRES = TRES{"node": 4}
				c.Associations[1].GrpTRES = TRES{"node": 2}
			},
			"account physics GrpTRES=node", "account physics allows 2 node (GrpTRES=node)",
		},
	} {
		t.Run(v.name, func(t *testing.T) {
			c, r := cluster(), job(v.nodes)
			if v.edit != nil {
				v.edit(c, &r)
			}
			rule := c.Job(r, nil).CheckSize()
			switch {
			case v.rule == "" && rule != nil:
				t.Errorf("refused: %v", rule)
			case v.rule != "" && (rule == nil || rule.Name != v.rule || rule.Says != v.says):
				t.Errorf("%+v, want %s: %s", rule, v.rule, v.says)
			}
		})
	}
}

func TestRuleIsAnError(t *testing.T) {
	var rule *Rule
	if err := fmt.Errorf("plan: %w", cluster().Job(job(9), nil).CheckSize()); !errors.As(err, &rule) || rule.Name != "partition main size" {
		t.Errorf("%v", err)
	}
}

func TestBlocked(t *testing.T) {
	nodes := cluster().Partitions["main"].Nodes
	maintenance := func(name string, start, end int64, nodes ...string) Reservation {
		return Reservation{Name: name, Start: start, End: end, Nodes: nodes}
	}
	for _, v := range []struct {
		name  string
		nodes int32
		res   []Reservation
		want  []Window
	}{
		{"none", 8, nil, nil},
		{"elsewhere", 8, []Reservation{maintenance("a", 10, 20, "x1")}, nil},
		{"enough left", 4, []Reservation{maintenance("a", 10, 20, nodes[:4]...)}, nil},
		{
			"too few left", 5, []Reservation{maintenance("a", 10, 20, nodes[:4]...)},
			[]Window{{10, 20, Rule{"reservation a", "reservation a leaves partition main 4 of 8 nodes"}}},
		},
		{
			"only together", 5, []Reservation{maintenance("a", 10, 20, nodes[:3]...), maintenance("b", 15, 30, nodes[2:6]...)},
			[]Window{{15, 30, Rule{"reservations a and b", "reservations a and b leave partition main only 2 of 8 nodes at times"}}},
		},
		{
			"one after another", 8, []Reservation{maintenance("b", 20, 30, nodes[0]), maintenance("a", 10, 20, nodes[1])},
			[]Window{{10, 30, Rule{"reservations a and b", "reservations a and b leave partition main only 7 of 8 nodes at times"}}},
		},
		{
			"apart", 8, []Reservation{maintenance("b", 40, 50, nodes...), maintenance("a", 10, 20, nodes...)},
			[]Window{
				{10, 20, Rule{"reservation a", "reservation a leaves partition main 0 of 8 nodes"}},
				{40, 50, Rule{"reservation b", "reservation b leaves partition main 0 of 8 nodes"}},
			},
		},
		{"backwards", 8, []Reservation{maintenance("a", 20, 10, nodes...)}, nil},
	} {
		t.Run(v.name, func(t *testing.T) {
			c := cluster()
			c.Reservations = v.res
			if diff := cmp.Diff(v.want, c.Job(job(v.nodes), nil).Blocked(workload.Pieces{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReservationsClaim: the reservations of Slurm's claim those of their nodes that are in the
// partition and can be used, each once, however many of them have it.
func TestReservationsClaim(t *testing.T) {
	c := Cluster{
		Partitions: map[string]Partition{"main": {Nodes: []string{"a", "b", "c"}}},
		Nodes: map[string]Node{
			"a": {CPUs: 4, Memory: 100, Usable: true}, "b": {CPUs: 8, Memory: 200, Gres: map[string]int64{"gpu": 2}, Usable: true},
			"c": {CPUs: 16}, "d": {CPUs: 32, Usable: true},
		},
	}
	a, b := workload.Size{Nodes: 1, CPUs: 4, Memory: 100}, workload.Size{Nodes: 1, CPUs: 8, GPUs: 2, Memory: 200}
	both := workload.Size{Nodes: 2, CPUs: 12, GPUs: 2, Memory: 300}
	claim := func(start, end int64, size workload.Size, names ...string) workload.Claim {
		return workload.Claim{Request: workload.Request{Partition: "main", Size: size, Limit: end - start}, Start: start, From: start, Names: names}
	}
	for name, v := range map[string]struct {
		of   []Reservation
		want []workload.Claim
	}{
		"none": {nil, nil},
		"one": {
			[]Reservation{{Start: 150, End: 200, Nodes: []string{"a", "b", "c", "d"}}},
			[]workload.Claim{claim(150, 200, both, "a", "b")},
		},
		"of other nodes": {[]Reservation{{Start: 300, End: 400, Nodes: []string{"d"}}}, nil},
		"that has begun": {
			[]Reservation{{Start: 50, End: 200, Nodes: []string{"a"}}},
			[]workload.Claim{claim(50, 200, a, "a")},
		},
		"before and after": {
			[]Reservation{{Start: 50, End: 100, Nodes: []string{"a"}}, {Start: 1000, End: 1100, Nodes: []string{"b"}}},
			nil,
		},
		"of the same nodes": {
			[]Reservation{{Start: 160, End: 250, Nodes: []string{"a"}}, {Start: 150, End: 200, Nodes: []string{"a", "b"}}},
			[]workload.Claim{claim(150, 200, b, "b"), claim(150, 250, a, "a")},
		},
		"one after another": {
			[]Reservation{{Start: 200, End: 300, Nodes: []string{"a"}}, {Start: 400, End: 500, Nodes: []string{"a"}}, {Start: 150, End: 200, Nodes: []string{"a"}}},
			[]workload.Claim{claim(150, 300, a, "a"), claim(400, 500, a, "a")},
		},
	} {
		c.Reservations = v.of
		if diff := cmp.Diff(v.want, c.Job(workload.Request{Partition: "main"}, nil).Claims(workload.Pieces{}, 100, 1000)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestBlockedEveryMoment compares Blocked with a check of every moment.
func TestBlockedEveryMoment(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		c, r := cluster(), job(1+rng.Int32N(8))
		nodes := append([]string{"x1", "x2"}, c.Partitions["main"].Nodes...)
		for range rng.IntN(5) {
			start := rng.Int64N(40)
			v := Reservation{Name: "r", Start: start, End: start + rng.Int64N(20)}
			for _, n := range nodes {
				if rng.IntN(2) == 0 {
					v.Nodes = append(v.Nodes, n)
				}
			}
			c.Reservations = append(c.Reservations, v)
		}
		windows := c.Job(r, nil).Blocked(workload.Pieces{})
		for at := range int64(61) {
			free := 0
			for _, n := range c.Partitions["main"].Nodes {
				if !slices.ContainsFunc(c.Reservations, func(v Reservation) bool {
					return v.Start <= at && at < v.End && slices.Contains(v.Nodes, n)
				}) {
					free++
				}
			}
			inside := 0
			for _, w := range windows {
				if w.Start <= at && at < w.End {
					inside++
				}
			}
			if want := free < int(r.Nodes); inside > 1 || (inside == 1) != want {
				t.Fatalf("at %d: %d nodes free for %d, %d windows of %+v, reservations %+v", at, free, r.Nodes, inside, windows, c.Reservations)
			}
		}
		for i := 1; i < len(windows); i++ {
			if windows[i].Start <= windows[i-1].End {
				t.Fatalf("windows touch: %+v", windows)
			}
		}
	}
}

// TestKeptEveryMoment compares Kept with a check of every moment.
func TestKeptEveryMoment(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 300 {
		cpus := map[string]int64{"a": 1, "b": 2, "c": 4, "d": 8}
		var c Cluster
		for range rng.IntN(6) {
			start := rng.Int64N(40)
			v := Reservation{Start: start, End: start + rng.Int64N(20), Floats: rng.IntN(9) == 0}
			for _, name := range []string{"a", "b", "c", "d", "other"} {
				if rng.IntN(3) > 0 {
					v.Nodes = append(v.Nodes, name)
				}
			}
			c.Reservations = append(c.Reservations, v)
		}
		now, most := rng.Int64N(30), 1+rng.IntN(6)
		var all []Kept // of moments, one after the other
		for at := range int64(61) {
			kept := int64(0)
			for name, n := range cpus {
				if slices.ContainsFunc(c.Reservations, func(v Reservation) bool {
					return !v.Floats && v.Start <= at && at < v.End && slices.Contains(v.Nodes, name)
				}) {
					kept += n
				}
			}
			if last := len(all) - 1; kept > 0 && last >= 0 && all[last].End == at && all[last].CPUs == kept {
				all[last].End++
			} else if kept > 0 {
				all = append(all, Kept{Span{at, at + 1}, kept})
			}
		}
		all = slices.DeleteFunc(all, func(k Kept) bool { return k.End <= now })
		if got, want := c.Kept(cpus, now, most), all[:min(most, len(all))]; !slices.Equal(got, want) {
			t.Fatalf("from %d on, at most %d stretches: %v, want %v of %+v", now, most, got, want, c.Reservations)
		}
	}
}

// BenchmarkBlocked has a thousand nodes and fifty reservations of a hundred nodes each.
func BenchmarkBlocked(b *testing.B) {
	c := cluster()
	p := c.Partitions["main"]
	for i := range 1000 {
		p.Nodes = append(p.Nodes, fmt.Sprintf("m%d", i))
	}
	c.Partitions["main"] = p
	for i := range 50 {
		c.Reservations = append(c.Reservations, Reservation{Start: int64(i) * hour, End: int64(i+9) * hour, Nodes: p.Nodes[10*i : 10*i+100]})
	}
	for b.Loop() {
		c.Job(job(900), nil).Blocked(workload.Pieces{})
	}
}

func TestBillingRate(t *testing.T) {
	for _, v := range []struct {
		weights map[string]float64
		largest bool
		want    float64
	}{
		{nil, false, 32},
		{map[string]float64{"cpu": 1, "mem": 1. / 1024, "gres/gpu": 10}, false, 32 + 2 + 40},
		{map[string]float64{"cpu": 1, "mem": 1. / 1024, "gres/gpu": 10}, true, 40},
		{map[string]float64{"node": .5}, false, 1},
		{map[string]float64{"license/matlab": 3}, false, 0},
	} {
		c := cluster()
		p := c.Partitions["main"]
		p.BillingWeights = v.weights
		c.Partitions["main"], c.MaxTRES = p, v.largest
		if got := c.billingRate(new(job(2))); got != v.want {
			t.Errorf("weights %v: %v, want %v", v.weights, got, v.want)
		}
	}
}

// What Slurm 22.05 has charged on a node of 8 CPUs (4 cores), 4000 MiB and 2 GPUs is not more than
// the bound.
func TestMostBilling(t *testing.T) {
	memory := func(amount int64, option string) *workload.Needs {
		return &workload.Needs{MostNodes: 1, NodeMemory: workload.NodeNeed{Amount: amount, Option: option}}
	}
	none := &workload.Needs{MostNodes: 1}
	weights := map[string]float64{"cpu": 1, "mem": 1. / 1024, "gres/gpu": 100}
	for _, v := range []struct {
		what    string
		size    workload.Size
		needs   *workload.Needs
		p       Partition
		factor  float64
		charged float64 // by Slurm
		want    float64
	}{
		{"-n1", workload.Size{CPUs: 1}, none, Partition{}, 1, 5, 2 + 4000./1024},
		{"-n1 --mem=10", workload.Size{CPUs: 1, Memory: 10}, memory(10, "--mem"), Partition{}, 1, 2, 2 + 10./1024},
		{"--mem=0", workload.Size{CPUs: 1}, memory(0, "--mem"), Partition{Memory: Memory{DefMemPerCPU: 100}}, 1, 5, 2 + 4000./1024},
		{"-N1 -n1 --exclusive", workload.Size{CPUs: 1}, &workload.Needs{MostNodes: 1, Exclusive: true}, Partition{}, 1, 211, 208 + 4000./1024},
		{"-c3 --mem=10", workload.Size{CPUs: 3, Memory: 10}, memory(10, "--mem"), Partition{}, 1, 4, 6 + 10./1024},
		{"--mem-per-cpu=3000", workload.Size{CPUs: 1, Memory: 3000}, memory(3000, "--mem-per-cpu"), Partition{Memory: Memory{MaxMemPerCPU: 1000}}, 1, 7, 6 + 4000./1024},
		{"-n1, MaxMemPerCPU", workload.Size{CPUs: 1}, none, Partition{Memory: Memory{MaxMemPerCPU: 1000}}, 1, 7, 8 + 4000./1024},
		{"-n1, DefMemPerCPU", workload.Size{CPUs: 1}, none, Partition{Memory: Memory{DefMemPerCPU: 100}}, 1, 2, 2 + 200./1024},
		{"-c3, DefMemPerCPU", workload.Size{CPUs: 3}, none, Partition{Memory: Memory{DefMemPerCPU: 100}}, 1, 4, 6 + 600./1024},
		{"--gpus=1", workload.Size{CPUs: 1, GPUs: 1, Memory: 100}, memory(100, "--mem-per-gpu"), Partition{}, 1, 102, 102 + 100./1024},
		{"--threads-per-core=1", workload.Size{CPUs: 2, Memory: 10}, &workload.Needs{MostNodes: 1, PerCore: 1, NodeMemory: memory(10, "--mem").NodeMemory}, Partition{}, 1, 2, 2 + 10./1024},
		{"UsageFactor=3", workload.Size{CPUs: 1, Memory: 10}, memory(10, "--mem"), Partition{}, 3, 6, 3 * (2 + 10./1024)},
	} {
		c := cluster()
		v.p.Nodes, v.p.BillingWeights = []string{"n1"}, weights
		c.Partitions["main"] = v.p
		c.Nodes = map[string]Node{"n1": {Name: "n1", CPUs: 8, Threads: 2, Memory: 4000, Gres: map[string]int64{"gpu": 2}}}
		c.QOS["normal"] = QOS{Name: "normal", UsageFactor: v.factor}
		v.size.Nodes = 1
		got := c.Job(workload.Request{Partition: "main", QOS: "normal", Size: v.size}, v.needs).MostBilling()
		if math.Abs(got-v.want) > 1e-9 || got < v.charged {
			t.Errorf("%s: %v, want %v; Slurm charged %v", v.what, got, v.want, v.charged)
		}
	}
}

// TestClosed: a partition that is not up is said to be what it is.
func TestClosed(t *testing.T) {
	for state, want := range map[string]string{
		"": "partition old is down", "DOWN": "partition old is down", "DRAIN": "partition old is drained", "INACTIVE": "partition old is inactive",
	} {
		c := cluster()
		p := c.Partitions["old"]
		p.State = state
		c.Partitions["old"] = p
		if _, err := c.Complete(workload.Request{User: "alice", Partition: "old", Limit: hour}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", state, err)
		}
	}
}

// A job that asks for all the memory of its nodes is charged that of as many as Slurm may give to
// it.
func TestMostBillingOfAllMemory(t *testing.T) {
	c := cluster()
	c.Partitions["main"] = Partition{Nodes: []string{"n1", "n2"}, BillingWeights: map[string]float64{"mem": 1}}
	c.Nodes = map[string]Node{"n1": {Name: "n1", CPUs: 8, Memory: 4000}, "n2": {Name: "n2", CPUs: 8, Memory: 3000}}
	for _, option := range []string{"--mem", "--mem-per-cpu"} {
		n := &workload.Needs{MostNodes: 2, NodeMemory: workload.NodeNeed{Option: option}}
		r := workload.Request{Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 2, Memory: 3000}}
		if got := c.Job(r, n).MostBilling(); got != 7000 {
			t.Errorf("%s=0: %v", option, got)
		}
	}
}
