package limits

import (
	"fmt"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// varied returns cluster with different nodes: n1 to n4 have the features old and ib, n5 to n8
// the features new and ib. n5 and n6 have four a100 each, and n7 two h100. n8 is drained. Each
// has 16 CPUs, 64,000 MiB and 100 of the generic resource disk, except n5, which is twice as large.
func varied() *Cluster {
	c := cluster()
	c.AssociationsEnforced, c.QOSEnforced = true, true
	for i := range c.Associations {
		c.Associations[i].QOS = []string{"normal", "urgent"}
	}
	c.Licenses = map[string]License{"matlab": {Total: 3}, "ansys": {Total: 3, Kept: 2}, "scratch": {Total: 1_000_000}, "pool": {Total: 1_000_000, Used: 999_999}}
	c.Reservations = []Reservation{
		{Name: "course", Users: []string{"alice"}, Nodes: []string{"n1", "n2"}},
		{Name: "cores", Nodes: []string{"n1"}, Cores: map[string]int64{"n1": 2}}, {Name: "floats", Nodes: []string{"n1"}, Floats: true}, {Name: "flex", Nodes: []string{"n1"}, Flex: true},
		{Name: "others", Accounts: []string{"astro"}}, {Name: "not-her", Users: []string{"-alice"}},
	}
	c.Nodes = map[string]Node{}
	for i := 1; i <= 8; i++ {
		n := Node{Name: fmt.Sprintf("n%d", i), CPUs: 16, Memory: 64_000, Features: []string{"old", "ib"}, Usable: i != 8}
		if i > 4 {
			n.Features = []string{"new", "ib"}
		}
		switch i {
		case 5:
			n.CPUs, n.Memory, n.Tmp = 32, 128_000, 1000
			fallthrough
		case 6:
			n.Gres = map[string]int64{"gpu": 4, "gpu:a100": 4}
		case 7:
			n.Gres = map[string]int64{"gpu": 2, "gpu:h100": 2}
		case 8:
			n.Features = []string{"spare"}
		}
		if n.Gres == nil {
			n.Gres = map[string]int64{}
		}
		n.Gres["disk"] = 100
		c.Nodes[n.Name] = n
	}
	return c
}

func gpus(option, kind string, count int64, perNode bool) workload.Needs {
	return workload.Needs{Gres: []workload.Gres{{Name: "gpu", Type: kind, Count: count, PerNode: perNode, Option: option}}}
}

func nodes(option string, names ...string) workload.NamedNodes {
	return workload.NamedNodes{Names: names, Option: option}
}

// TestNice: where priorities only count submissions, nobody knows how many jobs pass one that lets
// others pass.
func TestNice(t *testing.T) {
	c := varied()
	r := job(1)
	r.Nice = 5
	check(t, "with priorities", c.Job(r, nil).CheckNeeds(), "")
	c.Basic = true
	check(t, "without", c.Job(r, nil).CheckNeeds(), "--nice=5: jobs start in the order of their submission here (PriorityType=priority/basic)")
}

// TestSegments: nothing is forecast where jobs have parts of the network alone, whatever they need.
func TestSegments(t *testing.T) {
	c := varied()
	p := c.Partitions["main"]
	p.Segments = true
	c.Partitions["main"] = p
	const want = "--partition=main: jobs have parts of the network alone there"
	for _, needs := range []*workload.Needs{nil, {MostNodes: 1}} {
		if rule := c.Job(job(1), needs).CheckNeeds(); rule == nil || !strings.HasPrefix(rule.Says, want) {
			t.Errorf("%+v: %+v", needs, rule)
		}
	}
}

func TestCheckNeeds(t *testing.T) {
	each := func(amount int64, option string) workload.NodeNeed {
		return workload.NodeNeed{Amount: amount, Option: option}
	}
	for _, v := range []struct {
		needs workload.Needs
		edit  func(*workload.Request)
		says  string // the beginning, or "" if nothing is wrong
	}{
		{workload.Needs{}, nil, ""},

		{workload.Needs{Constraint: "ib"}, nil, ""}, // only the drained node lacks it
		{workload.Needs{Constraint: "old|new"}, nil, ""},
		{workload.Needs{Constraint: "ib&(old|new)"}, nil, ""},
		{workload.Needs{Constraint: "foo"}, nil, "--constraint=foo: no node has the feature foo"},
		{workload.Needs{Constraint: "ib|foo"}, nil, "--constraint=ib|foo: no node has the feature foo"},
		{workload.Needs{Constraint: "old&new"}, nil, "--constraint=old&new: 0 of the 8 nodes of partition main have these features, and the job needs 1"},
		{workload.Needs{Constraint: "new"}, func(r *workload.Request) { r.Nodes = 4 }, "--constraint=new: 3 of the 8 nodes of partition main have these features, and the job needs 4"},
		{workload.Needs{Constraint: "new"}, nil, ""},
		{workload.Needs{Constraint: "[old|new]"}, nil, ""}, // a node is like itself
		{
			workload.Needs{Constraint: "[old|new]"}, func(r *workload.Request) { r.Nodes = 2 },
			"--constraint=[old|new]: when nodes that are alike are free cannot be forecast, only when any nodes of some are: leave it out",
		},
		{workload.Needs{Constraint: "ib*2"}, nil, "--constraint=ib*2: numbers of nodes among features may give the job more nodes than its costs and its forecast are of: say --nodes=2 --constraint=ib"},
		{workload.Needs{Constraint: "[ib*2]"}, func(r *workload.Request) { r.Nodes = 3 }, "--constraint=[ib*2]: numbers of nodes among features may give the job more nodes than its costs and its forecast are of: say --nodes=3 --constraint=ib"},
		{workload.Needs{Constraint: "old*2&new*1"}, nil, "--constraint=old*2&new*1: numbers of nodes among features may give the job more nodes than its costs and its forecast are of: leave it out"},
		{workload.Needs{Constraint: "old&"}, nil, "--constraint=old&: this is not an expression of features"},

		{workload.Needs{NodeList: nodes("--nodelist=x", "x")}, nil, "--nodelist=x: there is no node x"},
		{workload.Needs{NodeList: nodes("--nodelist=n1", "n1")}, nil, ""},
		{
			workload.Needs{NodeList: nodes("--nodelist=n1", "n1")}, func(r *workload.Request) { r.Nodes = 2 },
			"--nodelist=n1: Slurm adds other nodes to these, and how long certain nodes and others are busy cannot be forecast: name 2 nodes, or leave it out",
		},
		{workload.Needs{NodeList: nodes("--nodelist=n[1-7]", "n1", "n2", "n3", "n4", "n5", "n6", "n7")}, nil, ""},
		{
			workload.Needs{NodeList: nodes("--nodelist=n5", "n5")}, func(r *workload.Request) { r.Partition = "short" },
			"--nodelist=n5: node n5 is not in partition short, or is excluded",
		},
		{workload.Needs{Exclude: nodes("--exclude=x", "x")}, nil, "--exclude=x: there is no node x"},
		{workload.Needs{Exclude: nodes("--exclude=n8", "n8")}, nil, ""},
		{workload.Needs{Exclude: nodes("--exclude=n1", "n1")}, nil, ""},
		{
			workload.Needs{Exclude: nodes("--exclude=n5", "n5")}, func(r *workload.Request) { r.Partition = "short" }, "",
		},

		{workload.Needs{NodeMemory: each(1<<20, "--mem")}, nil, "--mem: 0 of the 8 nodes of partition main have 1048576 MiB of memory, and the job needs 1"},
		{workload.Needs{NodeMemory: each(100_000, "--mem")}, nil, ""}, // a forecast knows of memory
		{workload.Needs{NodeMemory: each(100_000, "--mem")}, func(r *workload.Request) { r.Nodes = 2 }, "--mem: 1 of the 8 nodes"},
		{workload.Needs{NodeCPUs: each(17, "--mincpus")}, nil, ""},
		{workload.Needs{NodeCPUs: each(33, "--mincpus")}, nil, "--mincpus: 0 of the 8 nodes of partition main have 33 CPUs"},
		{workload.Needs{NodeTmp: each(2000, "--tmp")}, nil, "--tmp: 0 of the 8 nodes of partition main have 2000 MiB of temporary disk, and the job needs 1"},
		{workload.Needs{NodeTmp: each(1000, "--tmp")}, nil, ""},
		{workload.Needs{NodeTmp: each(0, "--tmp")}, nil, ""},
		{workload.Needs{MostNodes: 1}, func(r *workload.Request) { r.CPUs = 32 }, ""},
		{workload.Needs{MostNodes: 1}, func(r *workload.Request) { r.CPUs = 33 }, "--ntasks: the job needs 33 CPUs, and the nodes of partition main that it may have, have 32"},
		{workload.Needs{MostNodes: 2}, func(r *workload.Request) { r.Memory = 200_000 }, "--mem: the job needs 200000 MiB of memory, and the nodes of partition main that it may have, have 192000"},

		{gpus("--gpus=10", "", 10, false), nil, ""},
		{gpus("--gpus=11", "", 11, false), nil, "--gpus=11: the nodes of partition main that the job may have, have 10 gpu"},
		{gpus("--gpus=a100:2", "a100", 2, false), nil, ""},
		{gpus("--gpus=v100:1", "v100", 1, false), nil, "--gpus=v100:1: 0 of the 8 nodes of partition main have 1 gpu:v100"},
		{gpus("--gres=gpu:a100:4", "a100", 4, true), nil, ""}, // no others have four
		{gpus("--gres=gpu:5", "", 5, true), nil, "--gres=gpu:5: 0 of the 8 nodes of partition main have 5 gpu"},
		{gpus("--gres=gpu:2", "", 2, true), func(r *workload.Request) { r.Nodes = 4 }, "--gres=gpu:2: 3 of the 8 nodes of partition main have 2 gpu, and the job needs 4"},
		{workload.Needs{Gres: []workload.Gres{{Name: "shard", Count: 1, PerNode: true, Option: "--gres=shard:1"}}}, nil, "--gres=shard:1: 0 of the 8 nodes"},
		{disk(1), nil, ""},
		{disk(50), nil, ""},
		{disk(51), nil, "--gres=disk:51: when others leave so much of it on a node cannot be forecast: leave it out"},

		{workload.Needs{Licenses: "foo"}, nil, "--licenses=foo: Slurm has no licence foo"},
		{workload.Needs{Licenses: "matlab:4"}, nil, "--licenses=matlab:4: there are 3 of licence matlab"},
		{workload.Needs{Licenses: "scratch:2,matlab"}, nil, ""},
		{workload.Needs{Licenses: "ansys:2"}, nil, "--licenses=ansys:2: others than Slurm's jobs have 2 of the 3 of licence ansys"},
		{workload.Needs{Licenses: "scratch:2"}, nil, ""}, // each CPU could have as many
		{workload.Needs{Licenses: "pool"}, nil, "--licenses=pool: 999999 of the 1000000 of licence pool are in use, and when enough are free cannot be forecast"},
		{workload.Needs{Licenses: "matlab:2,matlab:2"}, nil, "--licenses=matlab:2,matlab:2: there are 3 of licence matlab"},
		{workload.Needs{Licenses: "matlab|ansys"}, nil, "--licenses=matlab|ansys: varq does not know which of them the job will have"},
		{workload.Needs{Licenses: "matlab:x"}, nil, `--licenses=matlab:x: "x" is not a number of licences`},

		{workload.Needs{Reservation: "foo"}, nil, "--reservation=foo: Slurm has no reservation foo"},
		{workload.Needs{Reservation: "others"}, nil, "--reservation=others: reservation others admits neither user alice nor account plasma"},
		{workload.Needs{Reservation: "not-her"}, nil, "--reservation=not-her: reservation not-her admits neither"},
		{workload.Needs{Reservation: "course"}, inside("course"), ""},
		{workload.Needs{Reservation: "course,flex"}, nil, "--reservation=course,flex: varq looks at one reservation: name it"},
		{workload.Needs{Reservation: "cores"}, inside("cores"), "--reservation=cores: reservation cores has some cores of its nodes"},
		{workload.Needs{Reservation: "floats"}, inside("floats"), "--reservation=floats: reservation floats is always ahead (TIME_FLOAT)"},
		{workload.Needs{Reservation: "flex"}, nil, ""},
	} {
		r := workload.Request{User: "alice", Account: "plasma", Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: hour}
		if v.edit != nil {
			v.edit(&r)
		}
		check(t, fmt.Sprintf("%+v %+v", v.needs, r), varied().Job(r, &v.needs).CheckNeeds(), v.says)
		if rule := cluster().Job(r, &workload.Needs{Constraint: v.needs.Constraint, Gres: v.needs.Gres, Licenses: v.needs.Licenses}).CheckNeeds(); rule != nil {
			t.Errorf("where no nodes and licences are known: %+v", rule)
		}
	}
}

// inside has a request run in a reservation.
func inside(name string) func(*workload.Request) {
	return func(r *workload.Request) { r.Reservation = name }
}

func check(t *testing.T, what string, rule *Rule, says string) {
	t.Helper()
	if (rule == nil) != (says == "") || rule != nil && !strings.HasPrefix(rule.Says, says) {
		t.Errorf("%s: %+v, wanted %q", what, rule, says)
	}
}

func TestCheckAccess(t *testing.T) {
	for _, v := range []struct {
		edit func(*Cluster, *workload.Request)
		says string
	}{
		{func(*Cluster, *workload.Request) {}, ""},
		{func(_ *Cluster, r *workload.Request) { r.Account = "Plasma" }, ""},
		{func(_ *Cluster, r *workload.Request) { r.Account = "astro" }, "--account=astro: user alice may not use it (account: physics, plasma)"},
		{func(_ *Cluster, r *workload.Request) { r.User = "eve" }, "--account=plasma: user eve may not use it (account: none)"},
		{func(c *Cluster, r *workload.Request) { r.Account, c.AssociationsEnforced = "astro", false }, ""},
		{func(_ *Cluster, r *workload.Request) { r.QOS = "fast" }, "--qos=fast: user alice may not use it in account plasma (QOS: normal, urgent)"},
		{func(c *Cluster, r *workload.Request) { r.QOS, c.QOSEnforced = "fast", false }, ""},
		{func(c *Cluster, _ *workload.Request) {
			open(c, Partition{AllowAccounts: []string{"ALL"}, AllowQOS: []string{"normal"}})
		}, ""},
		{func(c *Cluster, _ *workload.Request) { open(c, Partition{AllowAccounts: []string{"astro"}}) }, "--partition=main: it is closed to account plasma"},
		{func(c *Cluster, _ *workload.Request) { open(c, Partition{DenyAccounts: []string{"plasma"}}) }, "--partition=main: it is closed to account plasma"},
		{func(c *Cluster, _ *workload.Request) { open(c, Partition{AllowQOS: []string{"urgent"}}) }, "--partition=main: it is closed to QOS normal"},
		{func(c *Cluster, _ *workload.Request) { open(c, Partition{DenyQOS: []string{"normal"}}) }, "--partition=main: it is closed to QOS normal"},
	} {
		c := varied()
		r := workload.Request{User: "alice", Account: "plasma", Partition: "main", QOS: "normal"}
		v.edit(c, &r)
		check(t, fmt.Sprintf("%+v", r), c.Job(r, nil).CheckNeeds(), v.says)
	}
}

// open sets to whom the partition main is open.
func open(c *Cluster, to Partition) {
	p := c.Partitions["main"]
	p.AllowAccounts, p.DenyAccounts, p.AllowQOS, p.DenyQOS = to.AllowAccounts, to.DenyAccounts, to.AllowQOS, to.DenyQOS
	c.Partitions["main"] = p
}

func TestWholeNodes(t *testing.T) {
	for n, want := range map[int32]int32{1: 32, 2: 48, 8: 144, 9: 144} {
		if got := varied().Job(workload.Request{Partition: "main"}, nil).wholeNodes(n); got != want {
			t.Errorf("%d nodes have %d CPUs, wanted %d", n, got, want)
		}
	}
	if got := cluster().Job(job(2), nil).wholeNodes(2); got != 0 {
		t.Errorf("%d CPUs of unknown nodes", got)
	}
}

// As in Slurm, & and | have no precedence.
func TestConstraint(t *testing.T) {
	has := func(features ...string) map[string]bool {
		set := map[string]bool{}
		for _, f := range features {
			set[f] = true
		}
		return set
	}
	for _, v := range []struct {
		text     string
		features map[string]bool
		want     bool
	}{
		{"a", has("a"), true},
		{"a", has("b"), false},
		{"a&b", has("a"), false},
		{"a,b", has("a"), false},
		{"a & b", has("a", "b"), true},
		{"a|b", has("b"), true},
		{"a|b&c", has("a"), false},
		{"a|(b&c)", has("a"), true},
		{"a&(b|c)", has("a", "c"), true},
		{"[a|b]", has("a"), false},
		{"a*2&b*4", has("a", "b"), true},
	} {
		c, err := parseConstraint(v.text)
		if err != nil {
			t.Errorf("%s: %v", v.text, err)
		} else if got := c.admits(v.features); got != v.want {
			t.Errorf("%s admits %v: %v", v.text, v.features, got)
		}
	}
	for _, text := range []string{"", "&a", "a&", "a||b", "(a", "a)", "()", "a*", "a*b", "a(b)", strings.Repeat("a", maxConstraint+1)} {
		if _, err := parseConstraint(text); err == nil {
			t.Errorf("%.20q is an expression", text)
		}
	}
}

func FuzzConstraint(f *testing.F) {
	f.Add("(a|b)&c*2,[d|e]")
	f.Add(strings.Repeat("(", 4000))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConstraint(text)
		if err != nil {
			return
		}
		all := map[string]bool{}
		for _, name := range c.features {
			all[name] = true
		}
		if !c.admits(all) {
			t.Errorf("%q does not admit a node with %q", text, c.features)
		}
		if c.admits(nil) {
			t.Errorf("%q admits a node without features", text)
		}
	})
}

// What fits a job are the nodes that satisfy its needs and are up.
func TestFitting(t *testing.T) {
	c := varied()
	for name, v := range map[string]struct {
		needs *workload.Needs
		want  string
	}{
		"anything": {nil, "n1 n2 n3 n4 n5 n6 n7"},
		"memory":   {&workload.Needs{NodeMemory: workload.NodeNeed{Amount: 100_000, Option: "--mem"}}, "n5"},
		"too much": {&workload.Needs{NodeMemory: workload.NodeNeed{Amount: 1e6, Option: "--mem"}}, ""},
	} {
		var got []string
		for _, n := range c.Job(workload.Request{Partition: "main", Size: workload.Size{Nodes: 1}}, v.needs).Fitting() {
			got = append(got, n.Name)
		}
		if strings.Join(got, " ") != v.want {
			t.Errorf("%s: %v, want %s", name, got, v.want)
		}
	}
}

// TestNodeSet: the nodes on which alone a job may run are those that have what it needs, unless
// they are nearly all.
func TestNodeSet(t *testing.T) {
	each := func(amount int64) workload.NodeNeed { return workload.NodeNeed{Amount: amount} }
	for _, v := range []struct {
		needs     workload.Needs
		partition string
		want      string
	}{
		{workload.Needs{}, "main", ""},
		{workload.Needs{Constraint: "ib"}, "main", ""}, // n8 lacks it, one of eight
		{workload.Needs{Constraint: "old"}, "main", "n[1-4]"},
		{workload.Needs{Constraint: "old&new"}, "main", ""}, // it never runs
		{workload.Needs{Constraint: "("}, "main", ""},
		{workload.Needs{Constraint: "[old|spare]"}, "main", "n[1-4,8]"},
		{workload.Needs{Exclude: nodes("", "n1")}, "main", ""},
		{workload.Needs{Exclude: nodes("", "n1", "n2")}, "main", "n[3-8]"},
		{workload.Needs{Constraint: "old", Exclude: nodes("", "n1")}, "main", "n[2-4]"},
		{workload.Needs{NodeList: nodes("", "n3")}, "main", "n3"},
		{workload.Needs{NodeMemory: each(64_000)}, "main", ""},
		{workload.Needs{NodeMemory: each(64_001)}, "main", "n5"},
		{workload.Needs{NodeCPUs: each(17)}, "main", "n5"},
		{workload.Needs{NodeTmp: each(1)}, "main", "n5"},
		{gpus("", "", 1, false), "main", "n[5-7]"},
		{gpus("", "a100", 1, false), "main", "n[5-6]"},
		{gpus("", "", 3, true), "main", "n[5-6]"},
		{workload.Needs{Constraint: "new"}, "nosuch,main", "n[5-7]"},
		{workload.Needs{Constraint: "new"}, "nosuch", ""},
	} {
		c := varied()
		r := workload.Request{Partition: v.partition, Size: workload.Size{Nodes: 1, CPUs: 1}}
		sets := c.NodeSets()
		for range 2 {
			if got := sets.Of(r, &v.needs); got != v.want {
				t.Errorf("%+v: %s, want %s", v.needs, got, v.want)
			}
		}
		r.User, r.Account, r.QOS, r.Limit = "alice", "plasma", "normal", hour
		if v.partition != "main" {
			continue
		}
		whole, err := c.CompleteWith(r, &v.needs)
		if err != nil || whole.NodeSet != v.want {
			t.Errorf("%+v: completed to %s, %v", v.needs, whole.NodeSet, err)
		}
		// what a job is told of is of these nodes
		if n, all := len(c.Job(whole, nil).partition.Nodes), len(c.Partitions["main"].Nodes); (n == all) != (v.want == "") {
			t.Errorf("%+v: %d of %d nodes", v.needs, n, all)
		}
	}
}

// Without a few of the nodes of a set a job waits as for all of them: those that varq leaves out,
// because they are likely to fail, change nothing of what is learnt.
func TestNodeSetWithoutAFew(t *testing.T) {
	c := varied()
	p := c.Partitions["main"]
	for i := range 16 {
		name := fmt.Sprintf("x%02d", i)
		c.Nodes[name] = Node{Name: name, CPUs: 16, Memory: 64_000, Features: []string{"extra"}}
		p.Nodes = append(p.Nodes, name)
	}
	c.Partitions["main"] = p
	for excluded, want := range map[string]string{"": "x[00-15]", "x03": "x[00-15]", "x03 x04": "x[00-15]", "x03 x04 x05": "x[00-02,06-15]"} {
		n := workload.Needs{Constraint: "extra", Exclude: nodes("--exclude", strings.Fields(excluded)...)}
		if got := c.Job(workload.Request{Partition: "main", Size: workload.Size{Nodes: 1}}, &n).NodeSet(); got != want {
			t.Errorf("without %s: %s, want %s", excluded, got, want)
		}
	}
}

// disk returns the need of so much of a generic resource of which each node has 100.
func disk(count int64) workload.Needs {
	return workload.Needs{Gres: []workload.Gres{{Name: "disk", Count: count, PerNode: true, Option: fmt.Sprintf("--gres=disk:%d", count)}}}
}

// Sets of nodes that only a very long list could name are not remembered, and nothing is promised
// for them.
func TestScatteredNodes(t *testing.T) {
	c := varied()
	p := c.Partitions["main"]
	var out []string
	for i := range 8000 {
		name := fmt.Sprintf("x%d", i)
		c.Nodes[name] = Node{Name: name, CPUs: 16, Memory: 64_000, Usable: true}
		if p.Nodes = append(p.Nodes, name); i%2 == 0 {
			out = append(out, name)
		}
	}
	c.Partitions["main"] = p
	needs := workload.Needs{Exclude: nodes("--exclude=many", out...)}
	r := workload.Request{User: "alice", Account: "plasma", Partition: "main", QOS: "normal", Size: workload.Size{Nodes: 1, CPUs: 1}, Limit: hour}
	if whole, err := c.CompleteWith(r, &needs); err != nil || whole.NodeSet != "" {
		t.Errorf("%.50s, %v", whole.NodeSet, err)
	}
	check(t, "scattered", c.Job(r, &needs).CheckNeeds(), "the nodes that the job may have are too scattered for a forecast: their list is longer than 8192 bytes")
}

// TestLicences: licences can run out if the CPUs could run more jobs with them than there are, and
// no more tasks run at the same time than have some.
func TestLicences(t *testing.T) {
	c := varied()
	for list, want := range map[string]workload.Licences{
		"": "", "scratch:2": "", "scratch:2,matlab": "matlab:1", "matlab:2;ansys": "ansys:1,matlab:2", "matlab,matlab:2": "matlab:3", "scratch:4000,scratch:4000": "scratch:8000", "matlab=2": "matlab:2", "ansys*1": "ansys:1", "nosuch": "", "matlab:x": "", "matlab:0": "",
	} {
		if got := c.Licences(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
		if got := c.NodeSets().Licences(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
	r := workload.Request{User: "alice", Partition: "main", Size: workload.Size{Nodes: 1, CPUs: 1, Licences: "matlab:1,ansys:1"}, Limit: hour}
	if most := c.Job(r, nil).MostTogether(8); most != 1 {
		t.Errorf("%d tasks have licences at the same time", most)
	}
	r.Licences = "matlab:1"
	if most := c.Job(r, nil).MostTogether(8); most != 3 {
		t.Errorf("%d tasks have licences at the same time", most)
	}
	check(t, "licences", c.Job(r, nil).CheckTogether(8), "Slurm has 3 of licence matlab, for 3 such tasks at the same time, and not for 8")
	if rule := c.Job(r, nil).CheckTogether(8); rule.Name != "licence matlab" {
		t.Errorf("the limit that binds is %s", rule.Name)
	}
	check(t, "enough licences", c.Job(r, nil).CheckTogether(3), "")
	r.Nodes, r.CPUs = 4, 64
	check(t, "nodes", c.Job(r, nil).CheckTogether(3), "partition main has room for 2 such tasks at the same time, and not for 3")
}
