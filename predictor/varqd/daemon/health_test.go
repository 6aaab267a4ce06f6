package daemon

import (
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/test/certs"
)

// A disk that is full is told as long as it is, and no longer.
func TestHealthOfAFullDisk(t *testing.T) {
	d, err := New(Options{Config: testConfig(t), Slurm: &fakeSlurm{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	write := func(statement string) error {
		return d.file.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(statement); return err })
	}
	told := func() string { return strings.Join(service{daemon: d}.Health(t.Context()).Problems, "\n") }
	if err := write("PRAGMA max_page_count = 1"); err != nil || strings.Contains(told(), "disk: ") {
		t.Fatal(err, told())
	}
	if err := write("CREATE TABLE more (n INTEGER)"); err == nil {
		t.Fatal("there is room for a table")
	}
	if n := gathered(t, d.unwritten); n != 1 {
		t.Errorf("%v writes are counted as not taken", n)
	}
	if want := "disk: " + d.config.Ledger.Path + ": the file cannot be written: "; !strings.Contains(told(), want) || !strings.Contains(told(), "full") {
		t.Errorf("told %q", told())
	}
	if d.problems.get(partDisk) == nil || write("PRAGMA max_page_count = 1000000") != nil || d.problems.get(partDisk) != nil {
		t.Errorf("told %q", told())
	}
}

// What is to be done about the site's certificate is told to operators: varq status shows the notes
// to every user.
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
