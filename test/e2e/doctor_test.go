package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/varqd/doctor"
	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// clinic is a site with a doctor.
type clinic struct {
	*site.Site
	t *testing.T
}

// examine runs one of the doctor's commands with --json, and returns its findings by what they
// are of. The exit code must tell whether one of them is a failure.
func (p clinic) examine(user, name string, args ...string) map[string]doctor.Finding {
	p.t.Helper()
	r, err := p.Run(p.t.Context(), user, name, append(args, "--json")...)
	if err != nil {
		p.t.Fatal(err)
	}
	var list []doctor.Finding
	if err := json.Unmarshal([]byte(r.Stdout), &list); err != nil {
		p.t.Fatalf("%s %v: %v in %q, %q", name, args, err, r.Stdout, r.Stderr)
	}
	want := 0
	if doctor.Failed(list) {
		want = 1
	}
	if r.Code != want {
		p.t.Errorf("%s %v: exit code %d, want %d with %+v; %s", name, args, r.Code, want, list, r.Stderr)
	}
	findings := map[string]doctor.Finding{}
	for _, f := range list {
		if f.Verdict != doctor.OK && f.Remedy == "" {
			p.t.Errorf("no remedy: %+v", f)
		}
		findings[f.Of] = f
	}
	return findings
}

// live examines varqd's side as varqd's user.
func (p clinic) live() map[string]doctor.Finding {
	p.t.Helper()
	return p.liveWith(p.Config())
}

func (p clinic) liveWith(config string) map[string]doctor.Finding {
	p.t.Helper()
	return p.examine("varq", "varqd", "--config="+config, "--check", "--live")
}

// withToken returns a configuration whose token is in a file.
func (p clinic) withToken(token string) string {
	p.t.Helper()
	return p.withTokenOf("varq", token)
}

// withTokenOf is withToken for another Slurm user.
func (p clinic) withTokenOf(user, token string) string {
	p.t.Helper()
	text, err := os.ReadFile(p.Config())
	if err != nil {
		p.t.Fatal(err)
	}
	file, config := filepath.Join(p.JobDir(), "token"), filepath.Join(p.JobDir(), "token.yaml")
	with := strings.Replace(string(text), "slurmrestd:\n", "slurmrestd:\n  user: "+user+"\n  token_file: "+file+"\n", 1)
	for path, text := range map[string]string{file: token, config: with} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	return config
}

// want fails the test unless one finding is so.
func (p clinic) want(findings map[string]doctor.Finding, of string, verdict doctor.Verdict, found, remedy string) {
	p.t.Helper()
	f := findings[of]
	if f.Verdict != verdict || !strings.Contains(f.Found, found) || !strings.Contains(f.Remedy, remedy) {
		p.t.Errorf("%s: got %+v, want %s: %s -> %s", of, f, verdict, found, remedy)
	}
}

// wantWell fails the test unless there are findings of all these things, and all are well.
func (p clinic) wantWell(findings map[string]doctor.Finding, of ...string) {
	p.t.Helper()
	for _, of := range of {
		if findings[of].Verdict != doctor.OK {
			p.t.Errorf("%s: %+v", of, findings[of])
		}
	}
	if len(findings) != len(of) {
		p.t.Errorf("%d findings, want %d: %+v", len(findings), len(of), findings)
	}
}

// shell runs a command as a user, which must succeed.
func (p clinic) shell(user, name string, args ...string) string {
	p.t.Helper()
	r, err := p.Run(p.t.Context(), user, name, args...)
	if err != nil || r.Code != 0 {
		p.t.Fatalf("%s %v: %v %s", name, args, err, r.Stderr)
	}
	return r.Stdout
}

func (p clinic) nothingLeft() {
	p.t.Helper()
	if left := p.shell("root", "squeue", "--noheader", "--name=varq-doctor"); left != "" {
		p.t.Errorf("the doctor leaves %s", left)
	}
}

// without runs do while a file has another text.
func (p clinic) without(path, text string, do func()) {
	p.t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	write([]byte(text))
	do()
	write(before)
}

// TestDoctor examines a healthy site, and then one that lacks one thing after the other.
func TestDoctor(t *testing.T) {
	inTurn(t, 1)
	p := clinic{site.ForTest(t, site.Options{Nodes: 1, Operator: true, SlurmConf: "AccountingStorageEnforce=associations,limits,qos"}), t}
	files := []string{"configuration", "slurmrestd.token_command", "server.socket", "ledger.path", "history.path"}
	slurm := []string{"slurmrestd", "slurmrestd memory", "token", "accounting", "clock", "rights", "limits"}
	host := []string{"munge", "plugstack", "cli_filter"}

	// of a doctor that was killed
	p.shell("varq", "sbatch", "--hold", "--job-name=varq-doctor", "--wrap=true")
	findings := p.live()
	p.wantWell(findings, append(append(files, slurm...), host...)...)
	p.want(findings, "slurmrestd", doctor.OK, "Slurm "+string(p.Version), "")
	p.want(findings, "slurmrestd memory", doctor.OK, " threads", "")
	p.want(findings, "rights", doctor.OK, "varq is an operator: tried on the held job", "")
	p.want(findings, "limits", doctor.OK, "stay as submitted: varq is not SlurmUser", "")
	p.nothingLeft()
	p.wantWell(p.examine("varq", "varqd", "--config="+p.Config(), "--check"), files...)
	p.wantWell(p.examine("alice", "varq", "doctor"), append(host, "varqd")...)

	p.shell("root", "sacctmgr", "-i", "modify", "user", "varq", "set", "maxsubmitjobs=0")
	p.want(p.live(), "rights", doctor.Warning, "could not be tried", "submit")
	p.shell("root", "sacctmgr", "-i", "modify", "user", "varq", "set", "maxsubmitjobs=-1", "adminlevel=none")
	p.want(p.live(), "rights", doctor.Failure, "varq is not an operator", "sacctmgr modify user varq set adminlevel=operator")
	p.nothingLeft()
	eventually(t, "varq doctor tells what varqd says", func() bool {
		f := p.examine("alice", "varq", "doctor")["health"]
		return f.Verdict == doctor.Failure && strings.Contains(f.Found, "rights")
	})
	p.shell("root", "sacctmgr", "-i", "modify", "user", "varq", "set", "adminlevel=operator")

	p.want(p.liveWith(p.withToken(p.shell("root", "scontrol", "token", "username=varq", "lifespan=3600"))), "token", doctor.Warning, "expires in", "renew")
	all := p.liveWith(p.withTokenOf("slurm", p.shell("root", "scontrol", "token", "username=slurm", "lifespan=172800")))
	p.want(all, "rights", doctor.OK, "slurm may act as any user", "")
	p.want(all, "limits", doctor.OK, "changes the time limits", "")
	expired := p.withToken(p.shell("root", "scontrol", "token", "username=varq", "lifespan=1"))
	eventually(t, "the token has expired", func() bool { return p.liveWith(expired)["token"].Verdict == doctor.Failure })
	p.want(p.liveWith(expired), "token", doctor.Failure, "expired at", "scontrol token")
	token := strings.TrimSpace(p.shell("root", "scontrol", "token", "username=varq", "lifespan=172800"))
	signature := strings.LastIndex(token, ".") + 1
	forged := token[:signature] + strings.Repeat("A", len(token)-signature)
	p.want(p.liveWith(p.withToken(forged)), "token", doctor.Failure, "Protocol authentication error", "token_file")

	plugStack, filter := p.Path("etc", "plugstack.conf"), p.Path("etc", "cli_filter.lua")
	p.without(plugStack, "# nothing\n", func() {
		p.want(p.examine("alice", "varq", "doctor"), "plugstack", doctor.Failure, "does not load spank_varq.so", "include plugstack.conf.d")
	})
	p.without(plugStack, "include more/*.conf\n", func() {
		p.want(p.live(), "plugstack", doctor.Failure, "does not load spank_varq.so", "include plugstack.conf.d")
	})
	p.without(plugStack, "optional /nowhere/spank_varq.so\n", func() {
		p.want(p.live(), "plugstack", doctor.Failure, "/nowhere/spank_varq.so does not exist", "install varq-slurm")
	})
	p.without(filter, "", func() {
		p.want(p.live(), "cli_filter", doctor.Failure, "does not call varq", "cli_filter.lua")
	})
	p.without(filter, `varq = dofile("/nowhere/varq.lua")`, func() {
		p.want(p.live(), "cli_filter", doctor.Failure, "/nowhere/varq.lua, which does not exist", "install")
	})

	for _, d := range []struct {
		daemon cluster.Daemon
		of     string
	}{{cluster.Slurmdbd, "accounting"}, {cluster.Slurmrestd, "slurmrestd"}, {cluster.Munged, "munge"}} {
		if err := p.StopDaemon(d.daemon); err != nil {
			t.Fatal(err)
		}
		p.want(p.live(), d.of, doctor.Failure, "", "systemctl status "+strings.TrimSuffix(string(d.daemon), "d"))
	}
	if err := p.StopVarqd(); err != nil {
		t.Fatal(err)
	}
	p.want(p.examine("alice", "varq", "doctor"), "varqd", doctor.Failure, "", "systemctl status varqd")
}

// TestDoctorOfPolicy: names in the site's policy that Slurm does not have are told, and by varqd
// --check that it was not asked for them.
func TestDoctorOfPolicy(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	p := clinic{site.ForTest(t, site.Options{Nodes: 1, VarqConf: `policy:
  - {partition: main, account: PHYS, qos: normal, user: alice, reserve: yes}
  - {name: pilot, partition: [main, nowhere], account: geology, qos: gold, user: [bob, mallory], reserve: no}
`}), t}
	wrong := []string{"partition nowhere", "qos gold", "account geology", "user mallory"}
	examine := func(user, name string, args ...string) string {
		t.Helper()
		r, err := p.Run(t.Context(), user, name, args...)
		if err != nil {
			t.Fatal(err)
		}
		return r.Stdout
	}
	unchecked := "the names in its rules were not checked against Slurm: --live does that"
	if text := examine("varq", "varqd", "--config="+p.Config(), "--check"); !strings.Contains(text, unchecked) || strings.Contains(text, "mallory") {
		t.Errorf("without --live: %s", text)
	}
	if text := examine("varq", "varqd", "--config="+p.Config(), "--check", "--live"); strings.Contains(text, unchecked) ||
		strings.Count(text, "which Slurm does not have") != len(wrong) || !strings.Contains(text, "sacctmgr show qos lists those that Slurm has") {
		t.Errorf("with --live: %s", text)
	}
	for _, name := range wrong {
		says := `rule "pilot" names ` + name + ", which Slurm does not have"
		if text := examine("varq", "varqd", "--config="+p.Config(), "--check", "--live"); !strings.Contains(text, says) {
			t.Errorf("no %q in %s", says, text)
		}
		eventually(t, "varq doctor says "+says, func() bool { return strings.Contains(examine("alice", "varq", "doctor"), says) })
	}
	right, err := os.ReadFile(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	fine := filepath.Join(p.JobDir(), "fine.yaml")
	if err := os.WriteFile(fine, right[:strings.Index(string(right), "  - {name: pilot")], 0o644); err != nil {
		t.Fatal(err)
	}
	p.want(p.liveWith(fine), "policy", doctor.OK, "Slurm has all the names in its rules", "")
}

// TestCheckFindsWhatIsNotThere has configurations that are well-formed, and do not work.
func TestCheckFindsWhatIsNotThere(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	p := clinic{site.ForTest(t, site.Options{Nodes: 1}), t}
	dir := p.JobDir()
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine := p.Path("mine") // of root
	if err := os.Mkdir(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	config := write("varq.yaml", `
slurmrestd: {url: "http://localhost:1", user: slurm, token_file: /nowhere/token}
server: {socket: `+mine+`/socket}
ledger: {path: `+mine+`/ledger.db}
history: {path: `+mine+`/history.db}
forecasters:
  - {name: one, command: /nowhere/forecaster -v}
  - {name: two, command: `+write("plain", "", 0o644)+`}
`, 0o644)
	findings := p.examine("varq", "varqd", "--config="+config, "--check")
	p.want(findings, "slurmrestd.token_file", doctor.Failure, "no such file", "scontrol token username=slurm lifespan")
	p.want(findings, "forecasters[0].command", doctor.Failure, "no such file", "execute")
	p.want(findings, "forecasters[1].command", doctor.Failure, "permission denied", "execute")
	p.want(findings, "server.socket", doctor.Failure, mine+" cannot be written", "chown")
	p.want(findings, "ledger.path", doctor.Failure, mine+" cannot be written", "chown")
	p.want(findings, "history.path", doctor.Warning, mine+" cannot be written", "chown")

	config = write("url.yaml", "slurmrestd: {url: \"localhost:6820\"}\n", 0o644)
	r, err := p.Run(t.Context(), "varq", "varqd", "--config="+config, "--check")
	if err != nil || r.Code == 0 || !strings.Contains(r.Stderr, `slurmrestd.url: "localhost:6820" is none of http://HOST:PORT`) {
		t.Errorf("%+v, %v", r, err)
	}
}
