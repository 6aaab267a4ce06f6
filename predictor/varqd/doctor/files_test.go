package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/test/certs"
)

// The files by which other sites know this one must be there, belong together, and the key be a
// secret.
func TestCertificate(t *testing.T) {
	authority, err := certs.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, test := range map[string]struct {
		days  int
		mode  os.FileMode
		sites []config.Site
		of    string
		want  Verdict
		says  string
	}{
		"good":           {100, 0o600, nil, "server.tls.certificate", OK, `that of ["alpha"], is good for 99 more days`},
		"soon over":      {10, 0o600, nil, "server.tls.certificate", Warning, "expires in 9 days"},
		"over":           {-1, 0o600, nil, "server.tls.certificate", Warning, "expired on "},
		"an open secret": {100, 0o644, nil, "server.tls.key", Failure, "is open to everybody"},
		"another's":      {100, 0o600, []config.Site{{Name: "beta", Endpoint: "tls://h:1"}}, "server.tls.certificate", Warning, "varq.yaml calls this site beta"},
	} {
		files, err := authority.Write(t.TempDir(), now.Add(time.Duration(test.days)*24*time.Hour-time.Hour), "alpha")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(files.Key, test.mode); err != nil {
			t.Fatal(err)
		}
		var c config.Config
		c.Sites = test.sites
		c.Server.TLS = config.TLS{Listen: "h:1", Certificate: files.Certificate, Key: files.Key, CA: files.CA}
		got := certificate(&c, now)
		if len(got) == 0 || got[0].Of != test.of || got[0].Verdict != test.want || !strings.Contains(got[0].Found, test.says) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	alpha, err := authority.Write(t.TempDir(), now.Add(time.Hour), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	beta, err := authority.Write(t.TempDir(), now.Add(time.Hour), "beta")
	if err != nil {
		t.Fatal(err)
	}
	nonsense := filepath.Join(t.TempDir(), "nonsense")
	if err := os.WriteFile(nonsense, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	all, err := authority.Write(open, now.Add(time.Hour), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ certificate, key, ca, of, says, remedy string }{
		"another's key":  {alpha.Certificate, beta.Key, alpha.CA, "server.tls.key", beta.Key + " is not the key of the certificate in " + alpha.Certificate, "name the key that belongs to the certificate"},
		"no PEM":         {alpha.Certificate, nonsense, alpha.CA, "server.tls.key", nonsense, "put a file in PEM there"},
		"nothing":        {"/nowhere", alpha.Key, alpha.CA, "server.tls.certificate", "no such file", "put a file in PEM there that varqd's user may read"},
		"an open folder": {alpha.Certificate, alpha.Key, all.CA, "server.tls.ca", "can be changed by everybody, who can then be any site", "chmod o-w " + open},
	} {
		var c config.Config
		c.Server.TLS = config.TLS{Certificate: test.certificate, Key: test.key, CA: test.ca}
		got := certificate(&c, now)
		if len(got) != 1 || got[0].Of != test.of || got[0].Verdict != Failure || !strings.Contains(got[0].Found, test.says) || !strings.HasPrefix(got[0].Remedy, test.remedy) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	c := config.Config{Sites: []config.Site{{Name: "beta", Endpoint: "tls://h:1"}}}
	if got := certificate(&c, now); len(got) != 1 || got[0].Of != "sites[0].endpoint" || got[0].Verdict != Warning {
		t.Errorf("without: %+v", got)
	}
}

// The program that notices are handed to must be there, and nobody else may change it.
func TestNoticesProgram(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		command string
		want    Verdict
		says    string
	}{
		"there":              {write("there", 0o755) + " -v", OK, "there"},
		"missing":            {filepath.Join(dir, "missing"), Failure, "missing"},
		"a folder":           {dir, Failure, "directory"},
		"not executable":     {write("text", 0o644), Failure, "permission"},
		"anybody changes it": {write("open", 0o777), Failure, "can be changed by everybody, and it runs with varqd's rights"},
	} {
		var c2 config.Config
		c2.Notices.Command = c.command
		found := false
		for _, f := range Files(&c2) {
			if f.Of == "notices.command" {
				found = true
				if f.Verdict != c.want || !strings.Contains(f.Found, c.says) {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said", name)
		}
	}
}

// Without the token of a site that has no varqd, varqd works.
func TestBareToken(t *testing.T) {
	there := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(there, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]Verdict{there: OK, there + "x": Warning} {
		c := config.Config{Sites: []config.Site{{Name: "a"}, {Name: "b", Bare: config.Bare{Slurmrestd: &config.Slurmrestd{TokenFile: file}}}}}
		found := Files(&c)[1]
		if found.Of != "sites[1].slurmrestd.token_file" || found.Verdict != want {
			t.Errorf("%+v", found)
		}
	}
}
