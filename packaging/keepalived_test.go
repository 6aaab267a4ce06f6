package packaging

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// TestKeepalived: with contrib/standby/keepalived.conf on two hosts, which are network namespaces
// here, the address of the varqd that is active is on its host: also after that was killed, when
// the killed one is back, and when a whole host is gone.
func TestKeepalived(t *testing.T) {
	thorough.Only(t)
	n := newNetwork(t)
	a, b := n.join(t, "a", 1), n.join(t, "b", 2)
	a.start(t)
	n.await(t, a)
	b.start(t)

	a.varqd.kill(t)
	n.await(t, b)
	b.wantPromises(t)
	a.varqd = a.startVarqd(t)
	a.varqd.await(t, "stands by")
	n.await(t, b)

	b.varqd.kill(t)
	b.keepalived.kill(t)
	n.run(t, "ip", "link", "set", b.outside, "down")
	n.await(t, a)
	a.wantPromises(t)
}

// network is a bridge in a network namespace, which two hosts are connected to, and the clients.
type network struct {
	namespace
	folder string // of the ledger, of the hosts' folders and of varqd
}

// address is that which clients know.
const address = "192.0.2.68"

func newNetwork(t *testing.T) *network {
	t.Helper()
	if testing.Short() {
		t.Skip("runs two hosts with keepalived; not with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip(cluster.ErrNotRoot)
	}
	if err := cluster.InstallPackages(t.Context(), "to try two varqd with one address", "keepalived", "iproute2", "curl"); err != nil {
		t.Skip("keepalived is missing: ", err)
	}
	n := &network{newNamespace(t, "net"), t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "go", "-C", "..", "build", "-o", n.folder, "./predictor/cmd/varqd", "./predictor/cmd/varq").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n.run(t, "ip", "link", "add", "hub", "type", "bridge")
	n.run(t, "ip", "address", "add", "192.0.2.100/24", "dev", "hub")
	n.run(t, "ip", "link", "set", "hub", "up")

	file, err := statefile.Open(n.ledger())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for range promisesThere {
		r := &api.Reservation{Plan: api.Plan{ID: api.NewPlanID(), BeginBy: time.Now().Unix() + 86400}, User: "root", Promised: time.Now().Unix()}
		if err := ledger.New(file).Promise(t.Context(), r, 0); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// promisesThere is how many promises the ledger has.
const promisesThere = 5

func (n *network) ledger() string { return filepath.Join(n.folder, "ledger.db") }

// await waits until varqd answers at the address, and that is on h.
func (n *network) await(t *testing.T, h *netHost) {
	t.Helper()
	began := time.Now()
	for {
		asked, _ := n.command("curl", "--silent", "--max-time", "1", "http://"+address+":6830/healthz").Output()
		has, _ := h.command("ip", "-brief", "address", "show", "dev", "eth0").Output()
		if bytes.Contains(asked, []byte(`"problems"`)) && bytes.Contains(has, []byte(address+"/")) {
			break
		}
		if time.Since(began) > cluster.Patience {
			t.Fatalf("varqd does not answer at %s, or elsewhere than on host %s: %s\n%s\n%s", address, h.name, asked, h.varqd.said(), h.keepalived.said())
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("host %s has the address after %.1f s", h.name, time.Since(began).Seconds())
}

// netHost is a host in the network, with a disk of which all hosts see the locks: this machine's.
type netHost struct {
	namespace
	name, outside, folder, varqdPath string
	varqd, keepalived                *program
}

// join connects another host to the network.
func (n *network) join(t *testing.T, name string, number int) *netHost {
	t.Helper()
	h := &netHost{namespace: newNamespace(t, name), name: name, outside: "to-" + name, folder: filepath.Join(n.folder, name), varqdPath: filepath.Join(n.folder, "varqd")}
	n.run(t, "ip", "link", "add", h.outside, "type", "veth", "peer", "name", "eth0", "netns", string(h.namespace))
	n.run(t, "ip", "link", "set", h.outside, "master", "hub", "up")
	h.run(t, "ip", "address", "add", fmt.Sprintf("192.0.2.%d/24", number), "dev", "eth0")
	h.run(t, "ip", "link", "set", "eth0", "up")
	if err := os.Mkdir(h.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("server: {listen: ':6830', socket: %[1]s/socket}\nclient: {endpoint: 'unix://%[1]s/socket', user: root}\n"+
		"ledger: {path: %[2]s}\nhistory: {path: %[2]s.history}\n", h.folder, n.ledger())
	if err := os.WriteFile(h.config(), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *netHost) config() string { return filepath.Join(h.folder, "varq.yaml") }

// start starts what contrib/standby has a host start.
func (h *netHost) start(t *testing.T) {
	t.Helper()
	h.varqd = h.startVarqd(t)
	conf, err := filepath.Abs("../contrib/standby/keepalived.conf")
	if err != nil {
		t.Fatal(err)
	}
	h.keepalived = h.begin(t, "keepalived", "--vrrp", "--dont-fork", "--log-console", "--use-file="+conf,
		"--pid="+h.folder+"/keepalived.pid", "--vrrp_pid="+h.folder+"/vrrp.pid")
}

func (h *netHost) startVarqd(t *testing.T) *program {
	t.Helper()
	return h.begin(t, h.varqdPath, "--standby", "--config", h.config())
}

// wantPromises checks that the host's varqd has all promises.
func (h *netHost) wantPromises(t *testing.T) {
	t.Helper()
	cmd := exec.Command(filepath.Join(filepath.Dir(h.varqdPath), "varq"), "status", "--json", "--all")
	cmd.Env = append(os.Environ(), "VARQ_CONFIG="+h.config())
	out, err := cmd.Output()
	if got := strings.Count(string(out), `"begin_by"`); err != nil || got != promisesThere {
		t.Errorf("the varqd of host %s has %d promises of %d: %v", h.name, got, promisesThere, err)
	}
}

// namespace is the name of a network namespace.
type namespace string

// newNamespace makes one that lasts until the test ends.
func newNamespace(t *testing.T, name string) namespace {
	t.Helper()
	s := namespace(fmt.Sprintf("varq-%d-%s", os.Getpid(), name))
	if out, err := exec.Command("ip", "netns", "add", string(s)).CombinedOutput(); err != nil {
		t.Skipf("there can be no network namespace: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "netns", "delete", string(s)).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	s.run(t, "ip", "link", "set", "lo", "up")
	return s
}

func (s namespace) command(name string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", string(s), name}, args...)...)
}

// run runs a command, which must succeed.
func (s namespace) run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
}

// program runs in a namespace.
type program struct {
	cmd *exec.Cmd
	log string // path of what it says
}

// begin starts a program, which is killed with all that it has started when the test ends.
func (s namespace) begin(t *testing.T, name string, args ...string) *program {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := s.command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{cmd: cmd, log: log.Name()}
	t.Cleanup(func() { p.kill(t) })
	return p
}

// kill kills it, with all that it has started.
func (p *program) kill(t *testing.T) {
	t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = p.cmd.Wait() // it was killed
}

func (p *program) said() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// await waits until it has said something.
func (p *program) await(t *testing.T, what string) {
	t.Helper()
	for began := time.Now(); !strings.Contains(p.said(), what); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > cluster.Patience {
			t.Fatalf("never %q: %s", what, p.said())
		}
	}
}
