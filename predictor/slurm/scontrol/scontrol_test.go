package scontrol

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

func TestConfig(t *testing.T) {
	got := parseConfig([]byte(`Configuration data as of 2026-11-21T02:47:52
AccountingStorageEnforce = associations,limits,qos
CliFilterPlugins        = cli_filter/lua,user_defaults
ClusterName             = lab
JobSubmitPlugins        = lua,job_submit/all_partitions
PlugStackConfig         = /etc/slurm/plugstack.conf
PluginDir               = /usr/lib/slurm
PriorityFlags           = ACCRUE_ALWAYS,CALCULATE_RUNNING,MAX_TRES
PriorityMaxAge          = 7-00:00:00
PriorityType            = priority/multifactor
PriorityWeightAge       = 1000
SLURM_CONF              = /etc/slurm/slurm.conf
SlurmUser               = slurm(64030)

Slurmctld(primary) at head is UP
`))
	want := Config{
		Aging:       workload.Aging{Weight: 1000, Max: 7 * 86400, Always: true},
		ClusterName: "lab", SlurmUser: "slurm", MaxTRES: true, LimitsEnforced: true, AssociationsEnforced: true, QOSEnforced: true, File: "/etc/slurm/slurm.conf", PlugStack: "/etc/slurm/plugstack.conf",
		PluginDir: "/usr/lib/slurm", SubmitPlugins: []string{"lua", "all_partitions"}, CLIFilters: []string{"lua", "user_defaults"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for value, want := range map[string]Config{
		"associations": {AssociationsEnforced: true}, "associations,qos": {AssociationsEnforced: true, QOSEnforced: true}, "none": {},
	} {
		want.Basic = true
		got = parseConfig([]byte("AccountingStorageEnforce = " + value + "\nPriorityFlags =\nPriorityType            = priority/basic\n"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}

// Lines of Slurm 22.05, shortened.
const (
	partitions = `PartitionName=main AllowGroups=ALL Default=YES QoS=N/A DefaultTime=01:00:00 PriorityJobFactor=1 PriorityTier=3 State=UP TotalCPUs=16
PartitionName=short AllowGroups=ALL Default=NO QoS=N/A DefaultTime=NONE State=DRAIN TotalCPUs=8
`
	manager = `Current Association Manager state
Association Records
ClusterName=lab Account=phys UserName= Partition= ID=3 GrpSubmitJobs=1000(0) GrpTRESMins=cpu=5000000(17),mem=N(0),node=1000(9) MaxWallPJ=2880
ClusterName=lab Account=phys UserName=alice(1001) Partition= ID=5 GrpTRESMins=cpu=N(17),mem=N(0),node=N(9) MaxWallPJ=2880 Comment=GrpTRESMins=cpu=1(1)
QOS Records
QOS=normal(1) UsageRaw=456.939750 GrpTRESMins=cpu=900000(7.5),mem=N(0) GrpTRESRunMins=cpu=N(0) MaxWallPJ=1440 Account Limits=No Accounts User Limits=No Users
`
)

func cluster() limits.Cluster {
	return limits.Cluster{
		Partitions: map[string]limits.Partition{"main": {Name: "main", Up: true}, "short": {Name: "short", Up: true}},
		QOS:        map[string]limits.QOS{"normal": {Name: "normal", JobLimits: limits.JobLimits{MaxWall: 86400}}},
		Associations: []limits.Association{
			{Account: "phys", JobLimits: limits.JobLimits{MaxWall: 172800}},
			{Account: "phys", User: "alice"},
		},
	}
}

func TestComplete(t *testing.T) {
	got := cluster()
	completePartitions(&got, []byte(partitions), Config{})
	if err := completeGroups(&got, []byte(manager)); err != nil {
		t.Fatal(err)
	}
	want := limits.Cluster{
		Partitions: map[string]limits.Partition{"main": {Name: "main", Default: true, Up: true, Tier: 3}, "short": {Name: "short", State: "DRAIN"}},
		QOS: map[string]limits.QOS{"normal": {Name: "normal", JobLimits: limits.JobLimits{
			MaxWall: 86400, GrpTRESMins: limits.TRES{"cpu": 900000}, UsedTRESMins: limits.TRES{"cpu": 7},
		}}},
		Associations: []limits.Association{
			{Account: "phys", JobLimits: limits.JobLimits{
				MaxWall: 172800, GrpTRESMins: limits.TRES{"cpu": 5000000, "node": 1000}, UsedTRESMins: limits.TRES{"cpu": 17, "node": 9},
			}},
			{Account: "phys", User: "alice"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	dropLimits(&got)
	if q := got.QOS["normal"]; q.MaxWall != limits.None || q.GrpTRESMins != nil || got.Associations[0].MaxWall != limits.None {
		t.Errorf("limits are left: %+v", got)
	}
}

// Of several clusters with one slurmdbd each has associations of its own.
func TestOtherClusters(t *testing.T) {
	for name, want := range map[string]int{"lab": 2, "": 3} {
		c := limits.Cluster{Name: name, Associations: []limits.Association{{Cluster: "lab", Account: "phys"}, {Account: "phys"}, {Cluster: "other", Account: "phys"}}}
		dropOthers(&c)
		if len(c.Associations) != want {
			t.Errorf("cluster %q has the associations %+v", name, c.Associations)
		}
	}
}

func TestBadUsage(t *testing.T) {
	for line, want := range map[string]string{
		"QOS=normal(1) GrpTRESMins=cpu":        `scontrol show assoc_mgr: "cpu": want TRES=LIMIT(USED)`,
		"QOS=normal(1) GrpTRESMins=cpu=x(1)":   `scontrol show assoc_mgr: "cpu=x(1)": bad limit`,
		"QOS=normal(1) GrpTRESMins=cpu=1(y)":   `scontrol show assoc_mgr: "cpu=1(y)": bad usage`,
		"QOS=normal(1) GrpTRESMins=cpu=1(1),,": `scontrol show assoc_mgr: "": want TRES=LIMIT(USED)`,
	} {
		c := cluster()
		if err := completeGroups(&c, []byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", line, err, want)
		}
	}
}

func TestNoCommand(t *testing.T) {
	c := Command{Path: "/nonexistent/scontrol"}
	if _, err := c.Config(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func FuzzComplete(f *testing.F) {
	f.Add(partitions)
	f.Add(manager)
	f.Fuzz(func(_ *testing.T, out string) {
		c := cluster()
		completePartitions(&c, []byte(out), Config{})
		_ = completeGroups(&c, []byte(out))
		parseConfig([]byte(out))
	})
}

// What a partition does not say of the memory of jobs, slurm.conf does.
func TestMemoryOfPartitions(t *testing.T) {
	c := limits.Cluster{Partitions: map[string]limits.Partition{"main": {Name: "main"}, "short": {Name: "short"}, "lean": {Name: "lean"}}}
	config := parseConfig([]byte("DefMemPerNode = 500\nMaxMemPerCPU = 900\nJobDefaults = (null)\n"))
	completePartitions(&c, []byte("PartitionName=main JobDefaults=DefCpuPerGPU=2 DefMemPerCPU=100 MaxMemPerCPU=1000\n"+
		"PartitionName=short JobDefaults=(null) DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED\n"+
		"PartitionName=lean JobDefaults=(null) MaxMemPerNode=700\n"), config)
	for name, want := range map[string]limits.Partition{
		"main":  {Name: "main", Memory: limits.Memory{DefMemPerCPU: 100, MaxMemPerCPU: 1000, GPUDefaults: true}},
		"short": {Name: "short", Memory: limits.Memory{DefMemPerNode: 500, MaxMemPerCPU: 900}},
		"lean":  {Name: "lean", Memory: limits.Memory{DefMemPerNode: 500, MaxMemPerNode: 700}},
	} {
		if diff := cmp.Diff(want, c.Partitions[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Jobs share no nodes in a partition that says so, nor anywhere with select/linear; or only with
// those of their user, or no part of the network. The lines are what Slurm 22.05, 24.11 and 26.05
// print.
func TestExclusivePartitions(t *testing.T) {
	for line, want := range map[string]limits.Partition{
		"DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 OverSubscribe=NO":                         {},
		"DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 OverSubscribe=EXCLUSIVE":                  {WholeNodes: true},
		"DisableRootJobs=NO ExclusiveUser=YES GraceTime=0 OverSubscribe=NO":                        {UserNodes: true},
		"DisableRootJobs=NO ExclusiveUser=NO ExclusiveTopo=NO GraceTime=0 OverSubscribe=EXCLUSIVE": {WholeNodes: true},
		"DisableRootJobs=NO ExclusiveUser=YES ExclusiveTopo=NO GraceTime=0 OverSubscribe=NO":       {UserNodes: true},
		"DisableRootJobs=NO ExclusiveUser=NO ExclusiveTopo=YES GraceTime=0 OverSubscribe=NO":       {Segments: true},
		"DisableRootJobs=NO Exclusive=NO GraceTime=0 OverSubscribe=NO":                             {},
		"DisableRootJobs=NO Exclusive=NODE GraceTime=0 OverSubscribe=NO":                           {WholeNodes: true},
		"DisableRootJobs=NO Exclusive=USER GraceTime=0 OverSubscribe=NO":                           {UserNodes: true},
		"DisableRootJobs=NO Exclusive=TOPO GraceTime=0 OverSubscribe=NO":                           {Segments: true},
	} {
		for _, conf := range []string{"SelectType = select/cons_tres\n", "SelectType = select/linear\n"} {
			c := cluster()
			completePartitions(&c, []byte("PartitionName=main "+line+" State=UP\n"), parseConfig([]byte(conf)))
			got := c.Partitions["main"]
			if whole := want.WholeNodes || strings.Contains(conf, "linear"); got.WholeNodes != whole || got.UserNodes != want.UserNodes || got.Segments != want.Segments {
				t.Errorf("%s%s: %+v", conf, line, got)
			}
		}
	}
}

// Jobs preempt those of partitions of a lower tier that have nodes of theirs.
func TestTiers(t *testing.T) {
	c := limits.Cluster{Partitions: map[string]limits.Partition{}}
	for name, nodes := range map[string][]string{"high": {"a", "b"}, "low": {"b", "c"}, "fast": {"b"}, "other": {"d"}} {
		c.Partitions[name] = limits.Partition{Name: name, Nodes: nodes}
	}
	completePartitions(&c, []byte("PartitionName=high PriorityTier=9 PreemptMode=OFF\nPartitionName=low PriorityTier=1 PreemptMode=REQUEUE\n"+
		"PartitionName=fast PriorityTier=1 PreemptMode=OFF\nPartitionName=other PriorityTier=1 PreemptMode=CANCEL\n"),
		parseConfig([]byte("PreemptMode = REQUEUE\nPreemptType = preempt/partition_prio\nSchedulerType = sched/builtin\n")))
	for name, want := range map[string]limits.Partition{"high": {Overcommits: true}, "low": {Preempted: "REQUEUE"}, "fast": {}, "other": {}} {
		if p := c.Partitions[name]; p.Overcommits != want.Overcommits || p.Preempted != want.Preempted {
			t.Errorf("%+v", p)
		}
	}
}

// Jobs may start on processors that others have where a partition or the configuration says so.
func TestOvercommits(t *testing.T) {
	const partitions = "PartitionName=main OverSubscribe=NO State=UP\nPartitionName=short OverSubscribe=FORCE:4 State=UP\n"
	for conf, want := range map[string]map[string]bool{
		"PreemptMode = OFF\nSelectTypeParameters = CR_CORE_MEMORY\n": {"main": false, "short": true},
		"PreemptMode = REQUEUE\n":                                    {"main": true, "short": true},
		"SelectTypeParameters = CR_MEMORY\n":                         {"main": true, "short": true},
	} {
		c := cluster()
		completePartitions(&c, []byte(partitions), parseConfig([]byte(conf)))
		for name, overcommits := range want {
			if want := strings.Contains(conf, "_MEMORY"); c.Partitions[name].ConsumableMemory != want {
				t.Errorf("%s: partition %s: %+v", conf, name, c.Partitions[name])
			}
			if c.Partitions[name].Overcommits != overcommits {
				t.Errorf("%s: partition %s: %+v", conf, name, c.Partitions[name])
			}
		}
	}
}

func TestPrivateNodes(t *testing.T) {
	for conf, private := range map[string]bool{"PrivateData = none\n": false, "PrivateData = jobs,usage\n": false, "PrivateData = jobs,nodes\n": true} {
		if slices.Contains(parseConfig([]byte(conf)).Private, "nodes") != private {
			t.Errorf("%q: nodes are private: %v", conf, !private)
		}
	}
}

// TestCores has lines of Slurm 22.05, shortened: a reservation with cores of its nodes, and one
// with its nodes whole.
func TestCores(t *testing.T) {
	const lines = `ReservationName=tres StartTime=2026-11-26T05:59:13 Nodes=node[1-2] NodeCnt=2 CoreCnt=5 PartitionName=main Flags=   NodeName=node1 CoreIDs=0-3   NodeName=node2 CoreIDs=0 TRES=cpu=5 Users=bob
ReservationName=nodes StartTime=2026-11-26T03:59:13 Nodes=node[1-2] NodeCnt=2 CoreCnt=8 PartitionName=main Flags= TRES=cpu=8 Users=bob
`
	c := limits.Cluster{Reservations: []limits.Reservation{{Name: "nodes"}, {Name: "tres"}, {Name: "newer"}}}
	if err := completeReservations(&c, []byte(lines)); err != nil {
		t.Fatal(err)
	}
	want := limits.Reservations{{Name: "nodes"}, {Name: "tres", Cores: map[string]int64{"node1": 4, "node2": 1}}, {Name: "newer"}}
	if diff := cmp.Diff(want, c.Reservations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	err := completeReservations(&c, []byte("ReservationName=tres NodeName=node1 CoreIDs=x\n"))
	if err == nil || !strings.Contains(err.Error(), "scontrol show reservation: tres, cores of node node1: ") {
		t.Errorf("error %v", err)
	}
}

// Whether a job in several partitions must be within the limits of each.
func TestEachPartition(t *testing.T) {
	for value, want := range map[string]bool{"ALL": true, "ANY": false, "NO": false} {
		if got := parseConfig([]byte("EnforcePartLimits       = " + value + "\n")).EachPartition; got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
}
