package sitecert_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/varqd/sitecert"
	"github.com/varq-project/varq/test/certs"
)

func authority(t *testing.T) *certs.Authority {
	t.Helper()
	a, err := certs.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func write(t *testing.T, a *certs.Authority, dir string, expires time.Time, names ...string) sitecert.Files {
	t.Helper()
	f, err := a.Write(dir, expires, names...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func open(t *testing.T, f sitecert.Files, now func() time.Time) *sitecert.Identity {
	t.Helper()
	i, err := sitecert.Open(f, now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// meet connects one site to another, which it takes for the site named, and returns how that ends
// at both: with the names that the server sees, or with errors.
func meet(t *testing.T, from, to *sitecert.Identity, name string) (names []string, atClient, atServer error) {
	t.Helper()
	config, err := from.Client(name)
	if err != nil {
		return nil, err, nil
	}
	here, there := net.Pipe()
	server, client := tls.Server(there, to.Server()), tls.Client(here, config)
	done := make(chan error, 1)
	go func() {
		err := server.Handshake()
		if err == nil {
			_, err = server.Write([]byte("x"))
		}
		there.Close()
		done <- err
	}()
	if atClient = client.Handshake(); atClient == nil {
		// which fails if the server does not take the certificate
		_, atClient = client.Read(make([]byte, 1))
	}
	here.Close()
	if atServer = <-done; atServer == nil {
		names = server.ConnectionState().PeerCertificates[0].DNSNames
		if got := server.ConnectionState().Version; got != tls.VersionTLS13 {
			t.Errorf("version %x", got)
		}
	}
	return names, atClient, atServer
}

func tomorrow() time.Time { return time.Now().Add(24 * time.Hour) }

func TestMeet(t *testing.T) {
	dir, common, other := t.TempDir(), authority(t), authority(t)
	alpha := open(t, write(t, common, dir, tomorrow(), "alpha", "alpha.example.org"), time.Now)
	beta := open(t, write(t, common, dir, tomorrow(), "beta"), time.Now)
	wild := open(t, write(t, common, dir, tomorrow(), "*.org"), time.Now)
	stranger := open(t, write(t, other, t.TempDir(), tomorrow(), "beta"), time.Now)
	old := open(t, write(t, common, t.TempDir(), time.Now().Add(-time.Hour), "beta"), time.Now)
	if names, err, _ := meet(t, alpha, beta, "beta"); err != nil || strings.Join(names, " ") != "alpha alpha.example.org" {
		t.Errorf("%q, %v", names, err)
	}
	for name, c := range map[string]struct {
		from, to *sitecert.Identity
		means    string
		want     string
	}{
		"another site answers":              {alpha, beta, "gamma", "valid for beta, not gamma"},
		"one that could be all":             {alpha, wild, "beta.org", "and not of beta.org"},
		"one of another authority answers":  {alpha, stranger, "beta", "unknown authority"},
		"one whose time is over answers":    {alpha, old, "beta", "expired"},
		"to one of another authority":       {stranger, stranger, "beta", ""},
		"this one's time is over":           {old, alpha, "alpha", "the certificate of this site expired on "},
		"this one's is another authority's": {open(t, mixed(t, common, other), time.Now), alpha, "alpha", "remote error: tls: unknown certificate authority"},
	} {
		_, err, _ := meet(t, c.from, c.to, c.means)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// mixed returns the files of a site that other has signed, and that trusts common.
func mixed(t *testing.T, common, other *certs.Authority) sitecert.Files {
	t.Helper()
	f := write(t, other, t.TempDir(), tomorrow(), "delta")
	f.CA = write(t, common, t.TempDir(), tomorrow(), "delta").CA
	return f
}

// Whoever replaces the files need not start varqd again, and who replaces one of them only does no
// harm.
func TestRotation(t *testing.T) {
	dir, a, b := t.TempDir(), authority(t), authority(t)
	alpha := open(t, write(t, a, dir, tomorrow(), "alpha"), time.Now)
	beta := open(t, write(t, a, dir, tomorrow(), "beta"), time.Now)
	good := func(step string) {
		t.Helper()
		if _, err, _ := meet(t, alpha, beta, "beta"); err != nil {
			t.Errorf("%s: %v", step, err)
		}
	}
	good("before")
	write(t, b, dir, tomorrow(), "beta")
	if _, err, _ := meet(t, alpha, beta, "beta"); err == nil {
		t.Error("alpha does not know beta's authority yet")
	}
	old := write(t, b, dir, tomorrow(), "alpha")
	good("with another authority")
	// A certificate that has not its key yet.
	elsewhere := write(t, b, t.TempDir(), tomorrow(), "alpha", "new")
	text, err := os.ReadFile(elsewhere.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old.Certificate, text, 0o644); err != nil {
		t.Fatal(err)
	}
	good("with half of the files")
	if s := alpha.State(); s.Problem == nil || len(s.Names) != 1 {
		t.Errorf("%+v", s)
	}
	if text, err = os.ReadFile(elsewhere.Key); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old.Key, text, 0o600); err != nil {
		t.Fatal(err)
	}
	good("with both")
	if s := alpha.State(); s.Problem != nil || len(s.Names) != 2 {
		t.Errorf("%+v", s)
	}
}

// A certificate that was good when a connection began is not good for ever.
func TestVerify(t *testing.T) {
	now := time.Now()
	dir, a := t.TempDir(), authority(t)
	beta := open(t, write(t, a, dir, tomorrow(), "beta"), func() time.Time { return now })
	f := write(t, a, dir, now.Add(time.Hour), "alpha")
	pair, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		t.Fatal(err)
	}
	chain := []*x509.Certificate{pair.Leaf}
	if err := beta.Verify(chain); err != nil {
		t.Error(err)
	}
	if err := beta.Verify(nil); err == nil {
		t.Error("nobody is somebody")
	}
	now = now.Add(2 * time.Hour)
	if err := beta.Verify(chain); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Error(err)
	}
	now = now.Add(-2 * time.Hour)
	write(t, authority(t), dir, tomorrow(), "beta") // another authority from now on
	if err := beta.Verify(chain); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Error(err)
	}
}

func TestState(t *testing.T) {
	a, expires := authority(t), tomorrow()
	s := open(t, write(t, a, t.TempDir(), expires, "alpha"), time.Now).State()
	if s.Problem != nil || s.Unsigned != nil || len(s.Names) != 1 || s.Expires.Unix() != expires.Unix() {
		t.Errorf("%+v", s)
	}
	if s := open(t, mixed(t, a, authority(t)), time.Now).State(); s.Unsigned == nil {
		t.Errorf("%+v", s)
	}
}

func TestNotes(t *testing.T) {
	expires := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		state sitecert.State
		days  float64
		want  string
	}{
		{sitecert.State{}, -100, ""},
		{sitecert.State{}, -30.5, ""},
		{sitecert.State{}, -29.5, "the site's certificate expires in 29 days, on 2027-01-15 08:00:00"},
		{sitecert.State{Unsigned: errors.New("signed by nobody")}, -.1, "the site's certificate expires in 2 hours, on 2027-01-15 08:00:00; other sites with the same server.tls.ca do not take the site's certificate: signed by nobody"},
		{sitecert.State{}, -1.5, "the site's certificate expires in 1 day, on 2027-01-15 08:00:00"},
		{sitecert.State{}, -.05, "the site's certificate expires in 1 hour, on 2027-01-15 08:00:00"},
		{sitecert.State{}, -.01, "the site's certificate expires in less than an hour, on 2027-01-15 08:00:00"},
		{sitecert.State{Unsigned: errors.New("expired")}, .1, "the site's certificate expired on 2027-01-15 08:00:00: no other site takes it"},
		{sitecert.State{Problem: errors.New("no key")}, -100, "the site's certificate cannot be read again, and the one from before stays in use: no key"},
		{sitecert.State{Names: []string{"beta"}}, -100, `the site's certificate is that of ["beta"], and varq.yaml calls this site alpha (sites): others do not take it`},
	} {
		c.state.Expires = expires
		if c.state.Names == nil {
			c.state.Names = []string{"alpha"}
		}
		now := expires.Add(time.Duration(c.days * float64(24*time.Hour)))
		if got := strings.Join(c.state.Notes("alpha", now), "; "); got != c.want {
			t.Errorf("%v days: %q, want %q", c.days, got, c.want)
		}
	}
	unknown := sitecert.State{Names: []string{"beta"}, Expires: expires}
	if got := unknown.Notes("", expires.Add(-100*24*time.Hour)); got != nil {
		t.Errorf("of a site without a name: %q", got)
	}
}

// What is wrong is told by the key in varq.yaml.
func TestBadFiles(t *testing.T) {
	a := authority(t)
	path := filepath.Join(t.TempDir(), "nonsense")
	if err := os.WriteFile(path, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	other := write(t, a, t.TempDir(), tomorrow(), "other")
	for name, c := range map[string]struct {
		spoil func(f *sitecert.Files)
		want  string
	}{
		"no certificate":         {func(f *sitecert.Files) { f.Certificate = "/nowhere" }, "server.tls.certificate: open /nowhere"},
		"a key for it":           {func(f *sitecert.Files) { f.Certificate = f.Key }, "server.tls.certificate: "},
		"nonsense":               {func(f *sitecert.Files) { f.Certificate = path }, "server.tls.certificate: " + path},
		"a large one":            {func(f *sitecert.Files) { f.Certificate = large }, "server.tls.certificate: " + large + ": larger than 1048576 bytes"},
		"no key":                 {func(f *sitecert.Files) { f.Key = "/nowhere" }, "server.tls.key: open /nowhere"},
		"another's key":          {func(f *sitecert.Files) { f.Key = other.Key }, "is not the key of the certificate in "},
		"a key for all":          {func(f *sitecert.Files) { chmod(t, f.Key, 0o644) }, "(mode 0644) is open to everybody, and who reads it can speak for this site: chmod o= "},
		"a rotten key":           {func(f *sitecert.Files) { f.Key = path }, "server.tls.key: " + path + ": "},
		"a certificate to write": {func(f *sitecert.Files) { chmod(t, f.Certificate, 0o646) }, "server.tls.certificate: "},
		"an authority to write":  {func(f *sitecert.Files) { chmod(t, f.CA, 0o666) }, "(mode 0666) can be changed by everybody, who can then be any site: chmod o-w "},
		"a folder to write":      {func(f *sitecert.Files) { chmod(t, filepath.Dir(f.CA), 0o777) }, "(mode 0777) can be changed by everybody, who can then cut this site off: chmod o-w "},
		"one above it": {func(f *sitecert.Files) {
			above := t.TempDir()
			dir := filepath.Join(above, "dir")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			f.CA = write(t, a, dir, tomorrow(), "ca").CA
			chmod(t, above, 0o777)
		}, "(mode 0777) can be changed by everybody, who can then be any site: chmod o-w "},
		"a folder with a link": {func(f *sitecert.Files) {
			dir := t.TempDir()
			link := filepath.Join(dir, "ca")
			if err := os.Symlink(f.CA, link); err != nil {
				t.Fatal(err)
			}
			f.CA = link
			chmod(t, dir, 0o777)
		}, "can be changed by everybody"},
		"a key to write":     {func(f *sitecert.Files) { chmod(t, f.Key, 0o602) }, "is open to everybody"},
		"no authority":       {func(f *sitecert.Files) { f.CA = "/nowhere" }, "server.tls.ca: open /nowhere"},
		"a key as authority": {func(f *sitecert.Files) { f.CA = f.Key }, "server.tls.ca: "},
	} {
		f := write(t, a, t.TempDir(), tomorrow(), "alpha")
		c.spoil(&f)
		_, err := sitecert.Open(f, time.Now, slog.New(slog.DiscardHandler))
		var of *sitecert.FileError
		if !errors.As(err, &of) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	f := write(t, a, t.TempDir(), tomorrow(), "alpha")
	chmod(t, f.Key, 0o640) // root:varq
	chmod(t, f.CA, 0o664)
	chmod(t, filepath.Dir(f.CA), 0o777|os.ModeSticky) // as /tmp, where nobody moves what is others'
	open(t, f, time.Now)
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
