package sqlitefile

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// count returns how many rows of t a file has.
func count(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Backups that are made while the file is written have whole transactions, all that were committed
// before.
func TestBackupUnderLoad(t *testing.T) {
	path, to := filepath.Join(t.TempDir(), "file.db"), filepath.Join(t.TempDir(), "copy.db")
	f := open(t, path, first)
	stop := make(chan struct{})
	committed := make(chan int, 1)
	committed <- 0
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := f.Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.Exec("INSERT INTO t VALUES (1), (2), (3)")
				return err
			}); err != nil {
				t.Error(err)
				return
			}
			<-committed
			committed <- n
		}
	})
	for range 10 {
		before := <-committed
		committed <- before
		if err := Backup(t.Context(), path, to); err != nil {
			t.Fatal(err)
		}
		if n := count(t, to); n%3 != 0 || n < 3*before {
			t.Errorf("%d rows of %d transactions and more", n, before)
		}
	}
	close(stop)
	writing.Wait()
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if files, err := filepath.Glob(to + "*"); err != nil || !slices.Equal(files, []string{to}) {
		t.Errorf("%v, %v", files, err)
	}
	copied := open(t, to, first, second)
	if _, err := copied.Exec("SELECT n, m FROM t"); err != nil {
		t.Error(err)
	}
}

// A backup that fails leaves what was there.
func TestFailedBackup(t *testing.T) {
	folder := t.TempDir()
	path, to := filepath.Join(folder, "file.db"), filepath.Join(folder, "copy.db")
	if err := Backup(t.Context(), path, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("no file of SQLite's ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Backup(t.Context(), path, to); !Damaged(err) {
		t.Errorf("of another file: %v", err)
	}
	if text, err := os.ReadFile(to); err != nil || string(text) != "before" {
		t.Errorf("%q, %v", text, err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := Version(path); !Damaged(err) {
		t.Errorf("the version of another file: %v", err)
	}
	if n, err := Version(filepath.Join(folder, "none")); err != nil || n != 0 {
		t.Errorf("the version of no file: %d, %v", n, err)
	}
}

// A pipe, which nobody writes to, is refused at once.
func TestOpenNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenToRead(path); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Error(err)
	}
}

// A change of a file leaves its schema as it is. A file that is not there is not made.
func TestRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.db")
	f := open(t, path, "CREATE TABLE t (n INTEGER)", "INSERT INTO t VALUES (1)")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(t.Context(), path, "UPDATE t SET n = n + 1"); err != nil {
		t.Fatal(err)
	}
	db, err := OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	if err := db.QueryRow("SELECT n FROM t").Scan(&n); err != nil || n != 2 {
		t.Error(n, err)
	}
	if n, err := Version(path); err != nil || n != 2 {
		t.Errorf("version %d, %v", n, err)
	}
	other := filepath.Join(t.TempDir(), "none.db")
	if err := Rewrite(t.Context(), other, "CREATE TABLE t (n INTEGER)"); err == nil {
		t.Error("a file is made")
	}
}

// Damage of any page is found, and rows without what they belong to.
func TestExamine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.db")
	steps := []string{"CREATE TABLE t (n INTEGER PRIMARY KEY); CREATE TABLE u (n INTEGER REFERENCES t, text TEXT); CREATE INDEX by_text ON u (text)"}
	f := open(t, path, steps...)
	if err := f.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO t VALUES (1); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO u SELECT 1, hex(randomblob(50)) FROM n")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	examine := func() Contents {
		t.Helper()
		db, err := OpenToRead(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c, err := Examine(t.Context(), db, steps)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := examine(); c.Damage != nil || c.Version != 1 || c.Rows["u"] != 500 {
		t.Errorf("%+v", c)
	}
	if _, err := f.writer.Exec("PRAGMA foreign_keys = OFF; INSERT INTO u VALUES (2, ''); PRAGMA foreign_keys = ON; PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if c := examine(); len(c.Damage) != 1 || c.Damage[0] != "u has rows of which the table t knows nothing" {
		t.Errorf("%+v", c)
	}
	f.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 1; page < len(whole)/4096; page++ {
		broken := slices.Clone(whole)
		copy(broken[4096*page:], strings.Repeat("x", 4096))
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if c := examine(); len(c.Damage) == 0 {
			t.Errorf("with a garbled page %d: %+v", page, c)
		}
	}
}
