package statefile

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// promise makes a number of promises.
func promise(t *testing.T, f *sqlitefile.File, n int) {
	t.Helper()
	for i := range n {
		r := &api.Reservation{Plan: api.Plan{ID: api.NewPlanID(), BeginBy: 1000}, User: fmt.Sprint("user", i), Promised: 1}
		if err := ledger.New(f).Promise(t.Context(), r, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func promises(t *testing.T, path string) int64 {
	t.Helper()
	report, err := Check(t.Context(), path)
	if err != nil || report.Damage != nil {
		t.Fatalf("%s: %+v, %v", path, report, err)
	}
	return report.Promises()
}

// A killed varqd leaves beside its file what it has not yet written into it. That goes aside with
// the file, and does not garble the restored one.
func TestRestoreAfterAKill(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), "ledger.db"), filepath.Join(t.TempDir(), "copy.db")
	f := open(t, path)
	promise(t, f, 3)
	if report, err := Backup(t.Context(), path, copied); err != nil || report.Promises() != 3 || report.Open != 3 || report.Last != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	promise(t, f, 40)
	// The file as the kill leaves it.
	killed := filepath.Join(t.TempDir(), "ledger.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	aside, err := Restore(t.Context(), copied, killed, 77)
	if err != nil || aside != killed+".replaced-77" {
		t.Fatal(aside, err)
	}
	if n := promises(t, killed); n != 3 {
		t.Errorf("%d promises are restored", n)
	}
	if n := promises(t, aside); n != 43 {
		t.Errorf("%d promises are aside", n)
	}
	promise(t, open(t, killed), 1)
	if n := promises(t, copied); n != 3 {
		t.Errorf("the backup has %d promises now", n)
	}
}

// What cannot be restored leaves the ledger as it is.
func TestRestoreRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	f := open(t, path)
	promise(t, f, 2)
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	later, other := write("later.db", ""), write("other.db", "")
	for file, statement := range map[string]string{later: "PRAGMA user_version = 99", other: "CREATE TABLE t (n INTEGER)"} {
		if file == later {
			open(t, file).Close()
		}
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
	for backup, want := range map[string]string{
		later: "later.db: written by a later version of varq: it has schema version 99", other: "other.db: it is not a ledger of varq's",
		write("text", strings.Repeat("x", 5000)): "text is damaged (file is not a database", filepath.Join(dir, "none.db"): "none.db: no such file or directory",
	} {
		if aside, err := Restore(t.Context(), backup, path, 7); aside != "" || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q, %v; want %q", aside, err, want)
		}
	}
	release, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), later, path, 7); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if n := promises(t, path); n != 2 {
		t.Errorf("%d promises", n)
	}
	if files, err := filepath.Glob(path + ".re*"); err != nil || len(files) > 0 {
		t.Errorf("%v is left, %v", files, err)
	}
}

// On a full disk there is no backup and nothing of one, and no restoration.
func TestBackupOnAFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	promise(t, open(t, path), 100)
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH)
	small := filepath.Join(disk, "ledger.db")
	open(t, small).Close()
	leave(t, disk, 64<<10)
	if _, err := Backup(t.Context(), path, filepath.Join(disk, "backup.db")); !strings.Contains(fmt.Sprint(err), "no backup: there is no room left on the disk of "+disk) || !strings.Contains(fmt.Sprint(err), "copy "+path) {
		t.Error(err)
	}
	if _, err := Restore(t.Context(), path, small, 7); err == nil {
		t.Error("restored on a full disk")
	}
	if n := promises(t, small); n != 0 {
		t.Errorf("%d promises", n)
	}
	for _, pattern := range []string{"backup.db*", "*.part-*", "ledger.db.re*"} {
		if files, err := filepath.Glob(filepath.Join(disk, pattern)); err != nil || len(files) > 0 {
			t.Errorf("%v is left, %v", files, err)
		}
	}
}
