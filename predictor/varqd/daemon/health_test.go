package daemon

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/test/certs"
)

// What is to be done about the site's certificate is told to operators: varq status shows the notes to every user.
func TestHealthOfTheCertificate(t *testing.T) {
	authority, err := certs.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	files, err := authority.Write(t.TempDir(), time.Now().Add(90*time.Minute), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	c := testConfig(t)
	c.Server.TLS = config.TLS{Certificate: files.Certificate, Key: files.Key, CA: files.CA}
	d, err := New(Options{Config: c, Slurm: &fakeSlurm{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	h := service{daemon: d}.Health(t.Context())
	if strings.Contains(strings.Join(h.Notes, " "), "certificate") {
		t.Errorf("every user is told %q", h.Notes)
	}
	if len(h.Certificate) != 1 || !strings.HasPrefix(h.Certificate[0], "the site's certificate expires in 1 hour, on ") {
		t.Errorf("health has %+v", h)
	}
}
