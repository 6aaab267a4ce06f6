package scontrol

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
)

// fake returns a Command that prints a text for each last word of its arguments.
func fake(t *testing.T, texts map[string]string) Command {
	return Command{Run: func(_ context.Context, path string, env []string, args ...string) ([]byte, error) {
		kind := args[len(args)-1]
		text, ok := texts[kind]
		if text == "denied" {
			return nil, errors.New("slurm_load_node error: Access/permission denied")
		}
		if !ok {
			return nil, errors.New("nothing to show: " + kind)
		}
		if (kind == "reservation" || kind == "node") != slices.Contains(env, inSeconds) || path != "scontrol" {
			t.Error(path, env, args)
		}
		return []byte(text), nil
	}}
}

// Lines of Slurm 22.05, shortened.
var shown = map[string]string{
	"config": "AccountingStorageEnforce = associations,limits,qos\nClusterName = lab\nPrivateData = jobs,reservations\nSelectType = select/cons_tres\n",
	"partition": "PartitionName=main AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL Default=YES QoS=N/A DefaultTime=01:00:00 MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=0 Nodes=node[1-3] PriorityTier=1 OverSubscribe=NO State=UP TotalCPUs=24 TRESBillingWeights=CPU=1.0,Mem=0.25G\n" +
		"PartitionName=gpu AllowAccounts=phys,chem DenyQos=low Default=NO QoS=gpuq DefaultTime=NONE MaxNodes=2 MaxTime=UNLIMITED MinNodes=1 Nodes=(null) State=DOWN TotalCPUs=0\n",
	"reservation": "ReservationName=maint StartTime=1800000000 EndTime=1800003600 Nodes=node[1-2] NodeCnt=2 CoreCnt=16 Flags=MAINT,WEEKLY,FLEX Licenses=(null) State=INACTIVE Users=root,alice Accounts=(null)\n",
	"licenses":    "LicenseName=matlab Total=10 Used=3 Free=7 Reserved=1 Remote=no LastDeficit=2\n",
	"node": "NodeName=node2 Arch=x86_64 CoresPerSocket=4 CPUAlloc=0 CPUTot=8 AvailableFeatures=fast,big Gres=gpu:a100:2(S:0-1) NodeAddr=10.0.0.2 NodeHostName=n2 OS=Linux 6.1 #1 SMP RealMemory=16000 Sockets=1 State=IDLE*+DRAIN ThreadsPerCore=2 TmpDisk=500 Partitions=main,gpu BootTime=1799990000 CfgTRES=cpu=8,mem=16000M,billing=8 Reason=disk full [root@1799990000]\n" +
		"NodeName=node1 CoresPerSocket=4 CPUTot=8 AvailableFeatures=(null) Gres=(null) Sockets=2 RealMemory=8000 State=MIXED~ CfgTRES=cpu=8 BootTime=None\n",
}

func TestLayout(t *testing.T) {
	c := fake(t, shown)
	got, err := c.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	main, gpu := got.Partitions["main"], got.Partitions["gpu"]
	if !main.Default || !main.Up || main.MaxTime != 86400 || main.DefaultTime != 3600 || main.MaxNodes != limits.None || main.QOS != "" || main.AllowAccounts != nil ||
		main.BillingWeights["cpu"] != 1 || !slices.Equal(main.Nodes, []string{"node1", "node2", "node3"}) {
		t.Errorf("%+v", main)
	}
	if gpu.Default || gpu.Up || gpu.State != "DOWN" || gpu.MaxTime != limits.None || gpu.DefaultTime != limits.None || gpu.MaxNodes != 2 || gpu.QOS != "gpuq" || len(gpu.Nodes) != 0 ||
		!slices.Equal(gpu.AllowAccounts, []string{"phys", "chem"}) || !slices.Equal(gpu.DenyQOS, []string{"low"}) {
		t.Errorf("%+v", gpu)
	}
	want := limits.Reservations{{
		Name: "maint", Start: 1800000000, End: 1800003600, Nodes: []string{"node1", "node2"}, Maintenance: true, Flex: true, Repeats: limits.Weekly, Hidden: true, Users: []string{"root", "alice"},
	}}
	if diff := cmp.Diff(want, got.Reservations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]limits.License{"matlab": {Total: 10, Used: 4, Kept: 2}}, got.Licenses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What accounting allows is not known, so nothing is refused for it.
	if got.Name != "lab" || !got.PrivateJobs || got.AssociationsEnforced || got.QOSEnforced {
		t.Errorf("%+v", got)
	}
	for _, kind := range []string{"config", "partition", "reservation", "licenses"} {
		less := map[string]string{}
		for k, v := range shown {
			if k != kind {
				less[k] = v
			}
		}
		c := fake(t, less)
		if _, err := c.Layout(t.Context()); err == nil || !strings.Contains(err.Error(), kind) {
			t.Errorf("without %s: %v", kind, err)
		}
	}
	for kind, text := range map[string]string{
		"partition":   "PartitionName=main Nodes=node[1-\n",
		"reservation": "ReservationName=a StartTime=2026-11-26T05:59:13 EndTime=2026-11-27T05:59:13 Nodes=node1\n",
	} {
		bad := map[string]string{"config": "", "partition": shown["partition"], "licenses": "", "reservation": "No reservations in the system\n"}
		c := fake(t, bad)
		if _, err := c.Layout(t.Context()); err != nil {
			t.Error(err)
		}
		bad[kind] = text
		if _, err := c.Layout(t.Context()); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	hidden := fake(t, map[string]string{"config": "", "partition": shown["partition"], "licenses": "", "reservation": "denied", "node": "denied"})
	if got, err := hidden.Layout(t.Context()); err != nil || len(got.Reservations) > 0 || len(got.Partitions) != 2 {
		t.Error(got, err)
	}
	if _, err := hidden.Nodes(t.Context()); !errors.Is(err, slurm.ErrPermission) {
		t.Error(err)
	}
	nothing := fake(t, map[string]string{"config": "", "partition": "denied"})
	if _, err := nothing.Layout(t.Context()); !errors.Is(err, slurm.ErrPermission) || !strings.Contains(err.Error(), "PrivateData=partitions") {
		t.Error(err)
	}
	none := fake(t, map[string]string{"config": "", "partition": "", "licenses": "", "reservation": ""})
	if _, err := none.Layout(t.Context()); !errors.Is(err, slurm.ErrUnavailable) {
		t.Error(err)
	}
}

func TestNodes(t *testing.T) {
	c := fake(t, shown)
	got, err := c.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []slurm.Node{
		{Name: "node1", CPUs: 8, Threads: 1, Memory: 8000, Up: true, State: "MIXED+POWERED_DOWN"},
		{
			Name: "node2", Address: "10.0.0.2", Hostname: "n2", CPUs: 8, Threads: 2, Memory: 16000, Tmp: 500, GPUs: 2, Features: []string{"fast", "big"}, Gres: map[string]int64{"gpu": 2, "gpu:a100": 2},
			Partitions: []string{"main", "gpu"}, Drained: true, State: "IDLE+NOT_RESPONDING+DRAIN", Reason: "disk", BootTime: 1799990000,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for state, is := range map[string][3]bool{ // up, drained, in maintenance
		"IDLE": {true, false, false}, "DOWN*": {false, false, false}, "IDLE+DRAIN": {true, true, false}, "DRAINED": {true, true, false}, "MAINT": {true, false, true},
		"IDLE+MAINTENANCE+RESERVED": {true, false, true}, "MIXED$": {true, false, true}, "ALLOCATED": {true, false, false}, "FUTURE": {false, false, false}, "IDLE#": {true, false, false}, "": {true, false, false},
	} {
		n, err := record{"NodeName": "a", "State": state}.node()
		if err != nil || [3]bool{n.Up, n.Drained, n.Maintenance} != is {
			t.Errorf("%s: %+v, %v", state, n, err)
		}
	}
	if _, err := parseNodes([]byte("NodeName=a CfgTRES=x\n")); err == nil || !strings.Contains(err.Error(), "node a") {
		t.Error(err)
	}
}

func FuzzLayout(f *testing.F) {
	f.Add(shown["partition"], shown["node"], shown["reservation"])
	f.Fuzz(func(t *testing.T, partitions, nodes, reservations string) {
		c := Command{Run: func(_ context.Context, _ string, _ []string, args ...string) ([]byte, error) {
			return []byte(map[string]string{"partition": partitions, "node": nodes, "reservation": reservations}[args[len(args)-1]]), nil
		}}
		if cluster, err := c.Layout(t.Context()); err == nil && len(cluster.Partitions) == 0 {
			t.Error("no partitions")
		}
		if list, err := c.Nodes(t.Context()); err == nil {
			for _, n := range list {
				if n.Name == "" || n.CPUs < 0 {
					t.Errorf("%+v", n)
				}
			}
		}
	})
}
