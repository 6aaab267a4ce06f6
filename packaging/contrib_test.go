package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCount: contrib/checkpoint/count takes what its checkpoint has for a number, and runs none of it.
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
		program, err := filepath.Abs("../contrib/checkpoint/count")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "-c", `sleep() { :; }; . "$@"`, "bash", program, "2", "state")
		cmd.Dir = dir
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil || string(out) != want || strings.Contains(said.String(), "state is no number of steps") != (text != "3\n") {
			t.Errorf("%q: %s%s%v", text, out, &said, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Errorf("%q is run", text)
		}
	}
}

// TestMail: contrib/site/varq-mail mails what a notice says, and fails without a mail if it has none.
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
