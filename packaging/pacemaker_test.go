package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// TestPacemaker: by contrib/standby/pacemaker.crm Pacemaker runs varqd on the host that has the
// disk. A varqd that is killed starts again there. If the host is lost, it is switched off before
// the other one may write the disk and starts varqd. Pacemaker only tells here what it would do.
func TestPacemaker(t *testing.T) {
	thorough.Only(t)
	if err := cluster.InstallPackages(t.Context(), "to try what Pacemaker makes of its configuration", "crmsh", "pacemaker-cli-utils", "resource-agents"); err != nil {
		t.Skip("Pacemaker's commands are missing: ", err)
	}
	p := pacemaker{filepath.Join(t.TempDir(), "cib.xml")}
	if err := os.WriteFile(p.cib, []byte(p.run(t, "cibadmin", "--empty")), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run(t, "crm", "--force", "configure", "load", "update", "../contrib/standby/pacemaker.crm")
	p.simulate(t, "--node-up=host1", "--node-up=host2")
	p.hasDisk(t, "host2")
	p.wants(t, p.simulate(t), "disk promote on host2", "files start on host2", "address start on host2", "varqd start on host2")
	p.run(t, "crm_verify", "--xml-file="+p.cib)
	p.wants(t, p.simulate(t, "--op-inject=varqd_monitor_5000@host2=7"), "varqd stop on host2", "varqd start on host2")
	p.hasDisk(t, "host1")
	p.wants(t, p.simulate(t, "--node-fail=host2"), "Fencing host2", "disk promote on host1", "files start on host1", "address start on host1", "varqd start on host1")
}

// hasDisk says, as DRBD's agent does, that a host has all of the disk.
func (p pacemaker) hasDisk(t *testing.T, host string) {
	t.Helper()
	p.run(t, "crm_attribute", "--node="+host, "--lifetime=reboot", "--name=master-disk", "--update=10000")
}

// TestDRBD: DRBD takes contrib/standby/drbd.res.
func TestDRBD(t *testing.T) {
	thorough.Only(t)
	if err := cluster.InstallPackages(t.Context(), "to try a configuration of DRBD", "drbd-utils"); err != nil {
		t.Skip("drbdadm is missing: ", err)
	}
	folder, err := filepath.Abs("../contrib/standby")
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(t.TempDir(), "drbd.conf")
	if err := os.WriteFile(conf, []byte("global { usage-count no; }\ninclude \""+folder+"/drbd.res\";\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("drbdadm", "--config-file="+conf, "dump", "varq")
	cmd.Env = append(os.Environ(), "__DRBD_NODE__=host1")
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "7789") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// pacemaker has a state of a cluster in a file.
type pacemaker struct{ cib string }

// simulate lets the cluster go on after what the options tell, and returns what it does, action by
// action.
func (p pacemaker) simulate(t *testing.T, options ...string) (done []string) {
	t.Helper()
	out := p.run(t, "crm_simulate", append([]string{"--xml-file=" + p.cib, "--save-output=" + p.cib, "--quorum=true", "--simulate"}, options...)...)
	for line := range strings.Lines(out) {
		if action, ok := strings.CutPrefix(strings.TrimSpace(line), "* "); ok {
			_, of, found := strings.Cut(action, "action:")
			if !found {
				of = action
			}
			done = append(done, strings.Join(strings.Fields(of), " "))
		}
	}
	return done
}

// wants checks that all that is wanted is done, in this order.
func (p pacemaker) wants(t *testing.T, done []string, wanted ...string) {
	t.Helper()
	rest := done
	for _, want := range wanted {
		i := slices.IndexFunc(rest, func(did string) bool { return strings.HasPrefix(did, want) })
		if i < 0 {
			t.Errorf("%q is not done, or not after what is to be done before:\n%s", want, strings.Join(done, "\n"))
			return
		}
		rest = rest[i+1:]
	}
}

func (p pacemaker) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CIB_file="+p.cib)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
