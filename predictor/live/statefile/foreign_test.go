package statefile

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// rewrite changes a file as any program may that uses SQLite.
func rewrite(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file that has what varq does not make, or lacks what it makes, is not whole: it is neither
// restored nor opened, and stays as it is.
func TestForeignSchema(t *testing.T) {
	for statement, want := range map[string]string{
		"CREATE TRIGGER later AFTER UPDATE ON bindings BEGIN UPDATE plans SET begin_by = begin_by + 3600; END": `the trigger "later" on "bindings" is none of varq's`,
		"CREATE TABLE notes (n INTEGER)":                                          `the table "notes" is none of varq's`,
		"CREATE VIEW own AS SELECT * FROM plans":                                  `the view "own" is none of varq's`,
		"DROP VIEW reservations; CREATE VIEW reservations AS SELECT * FROM plans": `the view "reservations" is not as varq makes it`,
		"DROP INDEX plans_open":                                                   `the index "plans_open" on "plans" is missing`,
		"DROP INDEX plans_open; CREATE UNIQUE INDEX plans_open ON plans (user)":   `the index "plans_open" on "plans" is not as varq makes it`,
		"ALTER TABLE plans ADD COLUMN extra INTEGER":                              `the table "plans" is not as varq makes it`,
	} {
		t.Run(statement, func(t *testing.T) {
			path, own := filepath.Join(t.TempDir(), "copy.db"), filepath.Join(t.TempDir(), "ledger.db")
			f := open(t, path)
			promise(t, f, 1)
			f.Close()
			promise(t, open(t, own), 2)
			rewrite(t, path, statement)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if report, err := Check(t.Context(), path); err != nil || len(report.Damage) != 1 || report.Damage[0] != want {
				t.Errorf("%q, %v; want %q", report.Damage, err, want)
			}
			if _, err := Restore(t.Context(), path, own, 7); !strings.Contains(fmt.Sprint(err), "copy.db is damaged ("+want+"), so that nothing is restored") {
				t.Error(err)
			}
			if n := promises(t, own); n != 2 {
				t.Errorf("%d promises", n)
			}
			if _, err := Open(path); !errors.Is(err, sqlitefile.ErrForeign) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "varq ledger restore FILE") {
				t.Errorf("opened: %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file has changed, %v", err)
			}
		})
	}
}

// What ANALYZE leaves, which SQLite's own tools run, is not damage.
func TestAnalyzed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	promise(t, open(t, path), 3)
	rewrite(t, path, "ANALYZE")
	if n := promises(t, path); n != 3 {
		t.Errorf("%d promises", n)
	}
	open(t, path)
}

// A version below 0, which no varq writes, is refused like everything else that none writes.
func TestNegativeVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	open(t, path).Close()
	rewrite(t, path, "PRAGMA user_version = -5")
	if _, err := Check(t.Context(), path); !errors.Is(err, sqlitefile.ErrForeign) {
		t.Error(err)
	}
	if _, err := Open(path); !errors.Is(err, sqlitefile.ErrForeign) {
		t.Error(err)
	}
}

// Another program's file is not made a ledger.
func TestFileOfAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	rewrite(t, path, "CREATE TABLE t (n INTEGER)")
	if _, err := Open(path); !errors.Is(err, sqlitefile.ErrForeign) {
		t.Error(err)
	}
}

// Nobody waits for a pipe, whether it has the name of a ledger or of what SQLite keeps beside one.
func TestPipes(t *testing.T) {
	for _, end := range append([]string{""}, sqlitefile.Beside...) {
		path := filepath.Join(t.TempDir(), "ledger.db")
		if end != "" {
			open(t, path).Close()
		}
		if err := syscall.Mkfifo(path+end, 0o600); err != nil {
			t.Fatal(err)
		}
		want := path + end + " is not a file"
		if _, err := Check(t.Context(), path); fmt.Sprint(err) != want {
			t.Errorf("%v; want %q", err, want)
		}
		if _, err := Open(path); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// What lies beside the ledger belongs to it, and goes aside with it; a link to the ledger stays
// one.
func TestRestoreThroughALink(t *testing.T) {
	copied, link, path := filepath.Join(t.TempDir(), "copy.db"), filepath.Join(t.TempDir(), "ledger.db"), filepath.Join(t.TempDir(), "real.db")
	f := open(t, path)
	promise(t, f, 1)
	if _, err := Backup(t.Context(), path, copied); err != nil {
		t.Fatal(err)
	}
	promise(t, f, 1)
	f.Close()
	if err := errors.Join(os.Symlink(path, link), os.WriteFile(path+"-journal", []byte("of an earlier varqd"), 0o600)); err != nil {
		t.Fatal(err)
	}
	aside, err := Restore(t.Context(), copied, link, 7)
	if err != nil || aside != path+".replaced-7" {
		t.Fatal(aside, err)
	}
	if to, err := os.Readlink(link); to != path || err != nil {
		t.Errorf("the link is %q, %v", to, err)
	}
	if n := promises(t, path); n != 1 {
		t.Errorf("%d promises", n)
	}
	for _, end := range sqlitefile.Beside {
		if _, err := os.Lstat(path + end); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is beside what was restored: %v", end, err)
		}
	}
	if entries, err := ledger.New(open(t, link)).Select(t.Context(), ledger.Query{}); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
