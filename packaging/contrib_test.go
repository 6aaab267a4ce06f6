package packaging

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestCount: contrib/checkpoint/count takes what its checkpoint has for a number, and runs none of
// it.
func TestCount(t *testing.T) {
	for text, want := range map[string]string{
		"3\n":                  "done after step 3\n",
		"":                     "done after step 2\n",
		"-7\n":                 "done after step 2\n",
		"a[$(touch ran)]\n":    "done after step 2\n",
		"3\n4\n":               "done after step 2\n",
		"99999999999999999999": "done after step 2\n",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "state"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		program := absolute(t, "../contrib/checkpoint/count")
		cmd := exec.Command("bash", "-c", `sleep() { :; }; . "$@"`, "bash", program, "2", "state")
		cmd.Dir = dir
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil || string(out) != want || strings.Contains(said.String(), "state is not a number of steps") != (text != "3\n") {
			t.Errorf("%q: %s%s%v", text, out, &said, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Errorf("%q is run", text)
		}
	}
}

// TestMail: contrib/site/varq-mail mails what a notice says, and fails without a mail if it has
// none.
func TestMail(t *testing.T) {
	jq, err := exec.LookPath("jq")
	if err != nil {
		t.Skip("jq is not installed")
	}
	const notice = `{"event":"endangered","user":"alice","plan":"abc","state":"","text":"It is late."`
	for name, test := range map[string]struct{ jq, notice, want string }{
		"a job":           {jq, notice + `,"job":7}`, "To: alice\nSubject: varq: job 7: endangered\n\nIt is late.\n\n'varq status 7' tells more.\n"},
		"no job":          {jq, notice + `}`, "To: alice\nSubject: varq: promise abc: endangered\n\nIt is late.\n\n'varq status' tells more.\n"},
		"kept":            {jq, notice + `,"job":7,"state":"KEPT"}`, ""},
		"nothing":         {jq, "", "fails"},
		"no JSON":         {jq, "late", "fails"},
		"no user":         {jq, `{"event":"settled","text":"x"}`, "fails"},
		"jq is missing":   {"/nowhere/jq", notice + `}`, "fails"},
		"jq fails":        {"/bin/false", notice + `}`, "fails"},
		"jq says nothing": {"/bin/true", notice + `}`, "fails"},
	} {
		dir := t.TempDir()
		script := strings.NewReplacer("/usr/sbin/sendmail -oi -t", "cat >"+dir+"/mail", "jq -er", test.jq+" -er").Replace(read(t, "../contrib/site/varq-mail"))
		cmd := exec.Command("sh", "-c", script)
		cmd.Stdin = strings.NewReader(test.notice)
		err := cmd.Run()
		mail, none := os.ReadFile(filepath.Join(dir, "mail"))
		if test.want == "fails" || test.want == "" {
			if (err == nil) != (test.want == "") || none == nil {
				t.Errorf("%s: %v, mail %q", name, err, mail)
			}
		} else if err != nil || string(mail) != test.want {
			t.Errorf("%s: %v, mail %q", name, err, mail)
		}
	}
}

// TestOnDemand: the card of contrib/ondemand is well-formed, and its script serves the pages where
// the card looks for them, with a token that other users of the node do not see. Each token is good
// once: the card has the next one when it has been used.
func TestOnDemand(t *testing.T) {
	const folder = "../contrib/ondemand/"
	for _, name := range []string{"manifest.yml", "form.yml", "submit.yml.erb"} {
		var v map[string]any
		if err := yaml.Unmarshal([]byte(read(t, folder+name)), &v); err != nil || len(v) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	varq := `#!/bin/bash
echo "$VARQ_WEB_TOKEN: $*" >asked
echo "varq: open http://node7:8765/node/node7/8765/?token=$VARQ_WEB_TOKEN"
echo "Ctrl-C ends it."
printf 'token: %s\nhost: node7\nport: 8765\n' "$VARQ_WEB_TOKEN" >connection.yml # as Open OnDemand does
chmod 600 connection.yml
for next in next1 next2; do
  echo "varq: a browser has come in. For another one: http://node7:8765/node/node7/8765/?token=$next"
done
exit 3
`
	if err := os.WriteFile(filepath.Join(dir, "varq"), []byte(varq), 0o700); err != nil {
		t.Fatal(err)
	}
	before, script := absolute(t, folder+"template/before.sh.erb"), absolute(t, folder+"template/script.sh.erb")
	cmd := exec.Command("bash", "-euc", `find_port() { echo 8765; }; create_passwd() { echo "secret$1"; }; . "$1"; exec bash "$2"`, "bash", before, script)
	cmd.Env, cmd.Dir = append(os.Environ(), "host=node7", "PATH="+dir+":"+os.Getenv("PATH")), dir
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 3 || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if got, want := read(t, filepath.Join(dir, "asked")), "secret32: web --address=node7 --port=8765 --base-path=/node/node7/8765\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	connection := filepath.Join(dir, "connection.yml")
	if got, want := read(t, connection), "token: next2\nhost: node7\nport: 8765\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if info, err := os.Stat(connection); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	card := strings.NewReplacer("<%= host %>", "node7", "<%= port %>", "8765", "<%= token %>", "secret32").Replace(read(t, folder+"view.html.erb"))
	if !strings.Contains(card, `href="/node/node7/8765/?token=secret32"`) {
		t.Error(card)
	}
}

// card is what Open OnDemand does with an app's info.html.erb on the card of a session. It has as
// much of the dashboard as the file and the initializer of contrib/ondemand use.
const card = `require "erb"
require "ostruct"
module Rails
  def self.application = OpenStruct.new(config: self)
  def self.to_prepare = yield
end
module BatchConnect
  class App
    def session_info_view = ENV["OWN"]
  end
end
class Session
  def queued? = ENV["STATE"] == "queued"
  def cluster_id = :mycluster
  def job_id = ENV["JOB"]
  def app = BatchConnect::App.new
  def render = ERB.new(app.session_info_view, trim_mode: "-").result(binding)
end
load ENV["INITIALIZER"] if ENV["INITIALIZER"]
print Session.new.render
`

// TestOnDemandWhen: on the card of a session that waits stands by when varq expects it to start. Of
// others nothing is asked, and where varq does not answer nothing is said.
func TestOnDemandWhen(t *testing.T) {
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("ruby is not installed")
	}
	const (
		expected = `<p><strong>Expected to start:</strong> by Sat 2026-11-21 13:30 as likely as not, by Sat 2026-11-21 15:00 in 9 cases of 10</p>` + "\n"
		job      = `{"as_of": 1795266000, "jobs": [{"job": 4711, "start": {"median": 1795267800, "late": 1795273200}`
	)
	info := read(t, "../contrib/ondemand/info.html.erb")
	for name, test := range map[string]struct {
		state, job  string
		says        string // varq
		want, asked string
	}{
		"waits":         {"queued", "4711", `echo '` + job + `}]}'`, expected, "when --json 4711\n"},
		"promised":      {"queued", "4711", `echo '` + job + `, "prob": 0.959, "begin_by": 1795270500}]}'`, expected + "<p><strong>Promised to start:</strong> by Sat 2026-11-21 14:15 with probability 0.95</p>\n", "when --json 4711\n"},
		"how late":      {"queued", "4711", `echo '{"jobs": [{"job": 4711, "start": {"median": 1795267800, "late": 0}}]}'`, "<p><strong>Expected to start:</strong> by Sat 2026-11-21 13:30 as likely as not</p>\n", "when --json 4711\n"},
		"beyond":        {"queued", "4711", `echo '{"jobs": [{"job": 4711, "start": {"median": 0, "late": 0}}]}'`, "<p><strong>Expected to start:</strong> nobody knows when</p>\n", "when --json 4711\n"},
		"unknown":       {"queued", "4711", `printf '{"jobs": [{"job": 4711, "unknown": "it waits for <b>others</b>\\n\\n# (afterok:1)"}]}'`, "<p><strong>Expected to start:</strong> nobody knows when: it waits for &lt;b&gt;others&lt;/b&gt; # (afterok:1)</p>\n", "when --json 4711\n"},
		"runs":          {"running", "4711", `echo '` + job + `}]}'`, "", ""},
		"no job yet":    {"queued", "", `echo '` + job + `}]}'`, "", ""},
		"not a number":  {"queued", "1;id", `echo '` + job + `}]}'`, "", ""},
		"started since": {"queued", "4711", `echo '{"jobs": []}'; exit 1`, "", "when --json 4711\n"},
		"no varqd":      {"queued", "4711", `echo "varq: varqd is not reachable" >&2; exit 3`, "", "when --json 4711\n"},
		"other words":   {"queued", "4711", `echo '[1]'`, "", "when --json 4711\n"},
		"hangs":         {"queued", "4711", `exec sleep 3600`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info, hangs := info, name == "hangs"
			if !hangs { // however busy the machine is
				info = strings.Replace(info, `"timeout", "2"`, `"timeout", "600"`, 1)
			}
			dir := t.TempDir()
			asked := filepath.Join(dir, "asked")
			if err := os.WriteFile(filepath.Join(dir, "varq"), []byte("#!/bin/sh\necho \"$*\" >"+asked+"\n"+test.says+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, way := range []string{"its own", "initializer", "none of its own", "both"} {
				_ = os.Remove(asked)
				want := test.want
				cmd := exec.Command(ruby, "-e", card)
				cmd.Env = append(os.Environ(), "TZ=UTC", "STATE="+test.state, "JOB="+test.job, "PATH="+dir+":"+os.Getenv("PATH"))
				switch way {
				case "its own":
					cmd.Env = append(cmd.Env, "OWN="+info)
				default:
					line, initializer := filepath.Join(dir, "info.html.erb"), filepath.Join(dir, "varq.rb")
					there := strings.ReplaceAll(read(t, "../contrib/ondemand/initializers/varq.rb"), "/var/www/ood/apps/sys/varq/info.html.erb", line)
					if err := errors.Join(os.WriteFile(line, []byte(info), 0o600), os.WriteFile(initializer, []byte(there), 0o600)); err != nil {
						t.Fatal(err)
					}
					cmd.Env = append(cmd.Env, "INITIALIZER="+initializer)
					switch way {
					case "initializer":
						cmd.Env = append(cmd.Env, "OWN=My app: <%= job_id %>")
						want = "My app: " + test.job + "\n\n" + want
					case "both":
						cmd.Env = append(cmd.Env, "OWN="+info)
					}
				}
				out, err := cmd.CombinedOutput()
				if got := string(out); err != nil || got != want {
					t.Errorf("%s: %q, want %q; %v", way, got, want, err)
				}
				if got, err := os.ReadFile(asked); !hangs && (string(got) != test.asked || err != nil && test.asked != "") {
					t.Errorf("%s: varq was asked %q, want %q", way, got, test.asked)
				}
			}
		})
	}
	t.Run("varq is not there", func(t *testing.T) {
		cmd := exec.Command(ruby, "-e", card)
		cmd.Env = append(os.Environ(), "STATE=queued", "JOB=4711", "PATH="+t.TempDir(), "OWN="+info)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q, %v", out, err)
		}
	})
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
