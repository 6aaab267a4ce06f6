package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const first, second = "CREATE TABLE t (n INTEGER)", "ALTER TABLE t ADD COLUMN m INTEGER"

func open(t *testing.T, path string, steps ...string) *File {
	t.Helper()
	f, err := Open(path, SurvivesKill, steps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestStepsAreAppliedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.db")
	open(t, path, first).Close()
	open(t, path, first).Close()
	f := open(t, path, first, second)
	if _, err := f.Exec("SELECT n, m FROM t"); err != nil {
		t.Error(err)
	}
	f.Close()
	if _, err := Open(path, SurvivesKill, []string{first}); !errors.Is(err, ErrTooNew) {
		t.Errorf("an older varq: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestABrokenStepChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.db")
	if _, err := Open(path, SurvivesKill, []string{first, "nonsense"}); err == nil || !strings.Contains(err.Error(), "schema step 2") {
		t.Fatalf("Open = %v", err)
	}
	open(t, path, first, second)
}

func TestWritersQueue(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "file.db"), first)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := f.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec("INSERT INTO t VALUES (1)"); return err }); err != nil {
				t.Error(err)
			}
		})
	}
	failed := errors.New("failed")
	if err := f.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO t VALUES (2)")
		return errors.Join(err, failed)
	}); !errors.Is(err, failed) {
		t.Errorf("Write = %v", err)
	}
	wg.Wait()
	var n int
	if err := f.QueryRow("SELECT sum(n) FROM t").Scan(&n); err != nil || n != 50 {
		t.Errorf("sum %d, %v; want 50", n, err)
	}
}

// Files in memory are apart, and last while all their connections but one come and go.
func TestOpenMemory(t *testing.T) {
	var files [2]*File
	for i := range files {
		f, err := OpenMemory([]string{first})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
		if err := f.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec("INSERT INTO t VALUES (?)", i+1); return err }); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range files {
		var wg sync.WaitGroup
		for range 3 * maxReaders {
			wg.Go(func() {
				var n int
				if err := f.QueryRow("SELECT sum(n) FROM t").Scan(&n); err != nil || n != i+1 {
					t.Errorf("sum %d, %v; want %d", n, err, i+1)
				}
			})
		}
		wg.Wait()
	}
}

// A write that the file does not take is told apart from one that fails by itself, and Watch is
// told of it, and that it is over.
func TestUnwritten(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "file.db"), "CREATE TABLE t (text TEXT UNIQUE)")
	var told []error
	f.Watch = func(err error) { told = append(told, err) }
	insert := func(text string) error {
		return f.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec("INSERT INTO t VALUES (?)", text); return err })
	}
	limit := func(pages int) {
		t.Helper()
		if _, err := f.writer.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("x", 100_000)
	limit(3)
	if err := insert(long); !errors.Is(err, ErrUnwritten) || !strings.Contains(err.Error(), "full") {
		t.Errorf("on a full disk: %v", err)
	}
	limit(1000)
	if err := insert(long); err != nil {
		t.Error(err)
	}
	if err := insert(long); err == nil || errors.Is(err, ErrUnwritten) {
		t.Errorf("the same again: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Write(gone, func(*sql.Tx) error { return nil }); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnwritten) {
		t.Error(err)
	}
	if len(told) != 2 || !errors.Is(told[0], ErrUnwritten) || told[1] != nil {
		t.Errorf("told %v", told)
	}
}
