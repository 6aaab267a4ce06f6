package packaging

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/workload"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/thorough"
)

// manager is a way to install packages.
type manager struct {
	names   []string // of the packages, such as need others first
	tools   []string // Debian packages that make needs
	make    []string // variables and target of make; @ stands for a folder
	env     string
	pattern string // of the packages, in that folder
	install func(h host, t *testing.T, packages []string)
	remove  func(h host, t *testing.T, names []string)
	purge   func(h host, t *testing.T, names []string) // what remove has left
	// removed are the files that stay when the packages have been removed, and purged those that
	// stay at the end.
	removed, purged []string
}

var everywhere = []string{"varq-slurm", "varq-agent", "varq-predictor", "varq-lab", "varq"}

// state is what varqd writes.
var state = []string{
	"run/varq", "var/cache/varq", "var/cache/varq/history.db", "var/lib/varq", "var/lib/varq/ledger.db", "var/lib/varq/ledger.db.lock",
}

// afterErase is what rpm leaves of packages: the configuration, as it was changed, and folders that
// a package of Enterprise Linux has.
var afterErase = []string{
	"etc/varq", "etc/varq/varq.yaml.rpmsave",
	"usr/share/fish", "usr/share/fish/vendor_completions.d", "usr/share/licenses", "usr/share/zsh/site-functions",
}

var managers = map[string]manager{
	"deb": {
		names:   append([]string{"varq-slurmlab"}, everywhere...),
		tools:   []string{"dpkg-dev"},
		make:    []string{"deb", "BUILT=@/bin", "DEBDIR=@/debs"},
		env:     "DPKG_DEB_COMPRESSOR_TYPE=none",
		pattern: "debs/*.deb",
		install: func(h host, t *testing.T, packages []string) {
			h.dpkg(t, append([]string{"--install"}, packages...)...)
		},
		remove: func(h host, t *testing.T, names []string) {
			h.dpkg(t, append([]string{"--remove"}, names...)...)
		},
		purge: func(h host, t *testing.T, names []string) {
			h.dpkg(t, append([]string{"--purge"}, names...)...)
		},
		removed: []string{"etc/slurm/plugstack.conf.d/varq.conf", "etc/varq", "etc/varq/varq.yaml"},
	},
	// Dependencies are those of Enterprise Linux, of which rpm knows none on a Debian.
	"rpm": {
		names:   everywhere,
		tools:   []string{"rpm"},
		make:    []string{"rpm", "RPMTOP=@", "RPMFLAGS=--define '_binary_payload w0.ufdio'"},
		pattern: "RPMS/*/*.rpm",
		install: func(h host, t *testing.T, packages []string) {
			h.rpm(t, append([]string{"--upgrade", "--oldpackage"}, packages...)...)
		},
		remove: func(h host, t *testing.T, names []string) {
			h.rpm(t, append([]string{"--erase"}, names...)...)
		},
		purge:   func(host, *testing.T, []string) {}, // rpm knows no such thing
		removed: afterErase,
		purged:  slices.Concat(afterErase, state),
	},
}

// dpkg runs the host's dpkg.
func (h host) dpkg(t *testing.T, args ...string) {
	t.Helper()
	t.Logf("dpkg %s\n%s", strings.Join(args, " "), h.run(t, "dpkg", args...))
}

// rpm runs this machine's rpm on the host.
func (h host) rpm(t *testing.T, args ...string) {
	t.Helper()
	for i, arg := range args {
		if strings.HasPrefix(arg, "/") {
			args[i] = h.path(arg)
		}
	}
	out, err := exec.Command("rpm", append([]string{"--root=" + string(h), "--dbpath=/var/lib/rpm", "--nodeps"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("rpm %q: %v\n%s", args, err, out)
	}
	t.Logf("rpm %s\n%s", strings.Join(args, " "), out)
}

// build makes the packages of a version, on the host's disk, and returns their names there.
func (m *manager) build(t *testing.T, h host, version string) (packages []string) {
	t.Helper()
	if err := cluster.InstallPackages(t.Context(), "to make packages", m.tools...); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("/tmp", version)
	args := append(slices.Clone(m.make), "VERSION="+version)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "@", h.path(dir))
	}
	cmd := exec.Command("make", args...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), m.env)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make %q: %v\n%s", args, err, out)
	}
	found, err := filepath.Glob(h.path(filepath.Join(dir, m.pattern)))
	if err != nil || len(found) != len(m.names) {
		t.Fatalf("make %q left %q, %v", args, found, err)
	}
	for _, path := range found {
		packages = append(packages, strings.TrimPrefix(path, string(h)))
	}
	return packages
}

const administrators = "# ours\nplan: {prob: 0.8}\n"

// TestPackages installs packages on a host, upgrades them while the ledger is full, goes back to
// the version before, and removes them.
func TestPackages(t *testing.T) {
	thorough.Only(t)
	for name, m := range managers {
		t.Run(name, func(t *testing.T) { live(t, newHost(t), &m) })
	}
}

func live(t *testing.T, h host, m *manager) {
	before := h.files(t)
	older, newer := m.build(t, h, "0.1.0"), m.build(t, h, "0.2.0")

	m.install(h, t, older)
	if got := h.run(t, "varqd", "--version"); got != "varqd version 0.1.0\n" {
		t.Errorf("varqd says %q", got)
	}
	h.offersOptions(t)
	h.run(t, "systemctl", "enable", "varqd", "varq-agent")
	h.write(t, "etc/varq/varq.yaml", administrators)
	promised := h.promise(t)

	intact := func() {
		t.Helper()
		if got := read(t, h.path("etc/varq/varq.yaml")); got != administrators {
			t.Errorf("the configuration has become\n%s", got)
		}
		h.serve(t, func() {
			if diff := cmp.Diff(promised, h.promises(t), cmpopts.SortSlices(earlier)); diff != "" {
				t.Errorf("promises (-made +kept):\n%s", diff)
			}
		})
	}
	intact()
	m.install(h, t, newer)
	if got := h.run(t, "varqd", "--version"); got != "varqd version 0.2.0\n" {
		t.Errorf("varqd says %q after the upgrade", got)
	}
	intact()
	m.install(h, t, older)
	intact()
	h.refusesLater(t)

	m.remove(h, t, m.names)
	if diff := cmp.Diff(sorted(m.removed, state), added(before, h.files(t))); diff != "" {
		t.Errorf("left by removal (-want +got):\n%s", diff)
	}
	m.purge(h, t, m.names)
	if diff := cmp.Diff(sorted(m.purged), added(before, h.files(t)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("left at last (-want +got):\n%s", diff)
	}
}

// sorted returns what the lists have, each once.
func sorted(lists ...[]string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
}

// added returns what is in now and was not in before; the files of a host are in order.
func added(before, now []string) []string {
	return slices.DeleteFunc(now, func(name string) bool {
		_, was := slices.BinarySearch(before, name)
		return was
	})
}

// offersOptions asserts that Slurm loads the plugin as installed.
func (h host) offersOptions(t *testing.T) {
	t.Helper()
	h.write(t, "tmp/slurm/plugstack.conf", "include /etc/slurm/plugstack.conf.d/*.conf\n")
	h.write(t, "tmp/slurm/slurm.conf", "ClusterName=none\nSlurmctldHost=localhost\nPlugStackConfig=/tmp/slurm/plugstack.conf\nNodeName=n1\nPartitionName=p Nodes=n1\n")
	if help := h.run(t, "env", "SLURM_CONF=/tmp/slurm/slurm.conf", "sbatch", "--help"); !strings.Contains(help, "--begin-by=") {
		t.Errorf("sbatch does not know --begin-by:\n%s", help)
	}
}

// promise fills the ledger, as varqd does, and returns what is in it.
func (h host) promise(t *testing.T) (promised []promise) {
	t.Helper()
	h.run(t, "systemd-tmpfiles", "--create", "varq.conf")
	path := h.path("var/lib/varq/ledger.db")
	file, err := statefile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	now := time.Now().Unix()
	for i := range int64(200) {
		r := api.Reservation{
			Plan: api.Plan{
				ID: fmt.Sprintf("plan%d", i), BeginTime: now + 86400, BeginBy: now + 90000 + i, HoldUntil: now + 90000 + i,
				TimeLimit: 7200, WorkLimit: 3600, Prob: .9, Estimate: .93, OnMiss: "run", Comment: fmt.Sprintf("varq:plan%d", i),
			},
			User: fmt.Sprintf("user%d", i%7), Account: "phys", Partition: "main",
			Size: workload.Size{Nodes: 1, CPUs: 4}, Promised: now,
		}
		if err := ledger.New(file).Promise(t.Context(), &r, 0); err != nil {
			t.Fatal(err)
		}
		promised = append(promised, promise{r.ID, r.User, r.BeginBy, r.Prob})
	}
	h.run(t, "chown", "varq:", "/var/lib/varq/ledger.db")
	return promised
}

// promise is what must not change.
type promise struct {
	ID, User string
	BeginBy  int64
	Prob     float64
}

func earlier(a, b promise) bool { return a.BeginBy < b.BeginBy }

// promises asks varqd for all promises.
func (h host) promises(t *testing.T) (promised []promise) {
	t.Helper()
	var listed []api.Reservation
	if err := json.Unmarshal([]byte(h.run(t, "varq", "status", "--all", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	for i := range listed {
		promised = append(promised, promise{listed[i].ID, listed[i].User, listed[i].BeginBy, listed[i].Prob})
	}
	return promised
}

// refusesLater asserts that varqd leaves the ledger of a later version alone, and says what to do.
func (h host) refusesLater(t *testing.T) {
	t.Helper()
	path := h.path("var/lib/varq/ledger.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version=" + strconv.Itoa(version+1)); err != nil {
		t.Fatal(err)
	}
	was := read(t, path)
	out, err := h.command("setpriv", "--reuid=varq", "--regid=varq", "--clear-groups", "varqd").CombinedOutput()
	const says, remedy = "written by a later version of varq", "Install the varq again that has written it"
	if err == nil || !strings.Contains(string(out), says) || !strings.Contains(string(out), remedy) {
		t.Errorf("of a later ledger varqd says, with %v:\n%s", err, out)
	}
	if read(t, path) != was {
		t.Error("varqd has changed the ledger of a later version")
	}
}
