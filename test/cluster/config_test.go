package cluster

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/test/golden"
)

func TestRender(t *testing.T) {
	s := settings{
		state: state{
			folder: folder{"/lab"}, Version: Slurm2205, Name: "lab", Nodes: 8, CPUs: 4, Memory: 4000, Ports: portsFrom(20000),
		},
		DatabaseName: databaseName, Host: "machine",
		MungeSocket: "/lab/run/munge/socket", CliFilter: true, Threads: 1, Accounts: accounts(), Users: Users(),
	}
	for _, name := range []string{"slurm.conf", "slurmdbd.conf", "accounts"} {
		got, err := render(name+".tmpl", s)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		want := golden.Want(t, file, []byte(got))
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestOverride(t *testing.T) {
	const conf = "KillWait=5\nNodeName=a CPUs=1\nPartitionName=main Nodes=ALL\nPartitionName=short Nodes=a\n"
	const extra = `
		killwait=30
		PartitionName=short Nodes=a MaxTime=10
		PartitionName=gpu Nodes=a
		Licenses=fluent:2
	`
	const want = "killwait=30\nNodeName=a CPUs=1\nPartitionName=main Nodes=ALL\nPartitionName=short Nodes=a MaxTime=10\n" +
		"PartitionName=gpu Nodes=a\nLicenses=fluent:2\n"
	if diff := cmp.Diff(want, override(conf, extra)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := override(conf, ""); got != conf {
		t.Errorf("nothing to override gave %q", got)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{{Version: "19.05"}, {Nodes: -1}, {Nodes: maxNodes + 1}, {Declared: -1}, {Declared: maxDeclared + 1}, {CPUs: -1}, {Memory: -1}, {Dir: "/a b"}} {
		if _, err := o.withDefaults(); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
}
