package statefile

import (
	"bufio"
	"crypto/sha256"
	"database/sql"
	_ "embed" // rows of old files
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/ledger"
	"github.com/varq-project/varq/predictor/live/scores"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/test/golden"
)

// oldRows are, under a comment that names a schema version, rows that a varq of that version
// writes.
//
//go:embed testdata/rows.sql
var oldRows string

// oldFile writes the file path as the varqs up to a schema version leave it that have used it one
// after the other.
func oldFile(t *testing.T, path string, version int) {
	t.Helper()
	old, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	sections := regexp.MustCompile(`(?m)^-- version \d+.*$`).Split(oldRows, -1)[1:]
	if len(sections) != len(steps)-1 {
		t.Fatalf("testdata/rows.sql has rows of %d versions, and there were %d", len(sections), len(steps)-1)
	}
	script := "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL; BEGIN;"
	for i := range version {
		script += steps[i] + sections[i]
	}
	if _, err := old.Exec(script + fmt.Sprintf("PRAGMA user_version = %d; COMMIT", version)); err != nil {
		t.Fatalf("version %d: %v", version, err)
	}
}

// shape returns the schema of the file path, and all rows in it, sorted, a line each. Columns at
// their default are left out, and so is the table schemas, whose rows are of the time and the
// build.
func shape(t *testing.T, path string) (schema, rows []string) {
	t.Helper()
	db, err := sqlitefile.OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables []string
	if err := sqlitefile.Each(t.Context(), db, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY name", nil, func(r *sql.Rows) error {
		var kind, name, text string
		if err := r.Scan(&kind, &name, &text); err != nil {
			return err
		}
		schema = append(schema, text)
		if kind == "table" && name != "schemas" {
			tables = append(tables, name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if err := sqlitefile.Each(t.Context(), db, "SELECT * FROM "+table, nil, func(r *sql.Rows) error {
			names, err := r.Columns()
			if err != nil {
				return err
			}
			values := make([]any, len(names))
			into := make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			if err := r.Scan(into...); err != nil {
				return err
			}
			line := table + ":"
			for i, name := range names {
				if text := fmt.Sprint(values[i]); text != "" && text != "0" {
					line += " " + name + "=" + text
				}
			}
			rows = append(rows, line)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(rows)
	return schema, rows
}

// TestEveryVersionMigrates migrates a file of each schema version that there was.
func TestEveryVersionMigrates(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "ledger.db")
	open(t, fresh).Close()
	wantSchema, _ := shape(t, fresh)
	for version := len(steps) - 1; version > 0; version-- {
		path := filepath.Join(t.TempDir(), "ledger.db")
		oldFile(t, path, version)
		before, beforeRows := shape(t, path)
		f := open(t, path)
		schema, rows := shape(t, path)
		if diff := cmp.Diff(wantSchema, schema); diff != "" {
			t.Errorf("from version %d: the schema: %s", version, diff)
		}
		if version == len(steps)-1 { // whose file has the rows of all the others
			text := strings.Join(rows, "\n") + "\n"
			if diff := cmp.Diff(string(golden.Want(t, "testdata/rows.golden", []byte(text))), text); diff != "" {
				t.Error(diff)
			}
		}
		if n := len(rows); n != len(beforeRows) {
			t.Errorf("from version %d: %d rows of %d are left", version, n, len(beforeRows))
		}
		if entries, err := ledger.New(f).Select(t.Context(), ledger.Query{}); err != nil || len(entries) < 3 || entries[0].State != api.StateMissed {
			t.Errorf("from version %d: %+v, %v", version, entries, err)
		}
		if _, err := scores.New(f).Odds(t.Context()); err != nil {
			t.Errorf("from version %d: %v", version, err)
		}
		if table, err := scores.New(f).Scored(t.Context(), scores.Query{}); err != nil || version > 1 && len(table) != 1 {
			t.Errorf("from version %d: scores %v, %v", version, table, err)
		}
		if report, err := Check(t.Context(), path); err != nil || report.Damage != nil || report.Version != len(steps) || report.Varq != api.Version {
			t.Errorf("from version %d: %+v, %v", version, report, err)
		}
		kept := path + ".schema-" + strconv.Itoa(version)
		if report, err := Check(t.Context(), kept); err != nil || report.Damage != nil || report.Version != version || (report.Varq != "") != (version >= signedSince) {
			t.Errorf("the backup of version %d: %+v, %v", version, report, err)
		}
		if schema, rows := shape(t, kept); cmp.Diff(before, schema) != "" || cmp.Diff(beforeRows, rows) != "" {
			t.Errorf("the backup of version %d is another file", version)
		}
		if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the backup's mode is %v, %v", info.Mode(), err)
		}
	}
}

// TestStepsStayAsTheyWere: a file that an older varq has written is what its steps made of it, and
// no other test would see that they make something else of it now.
func TestStepsStayAsTheyWere(t *testing.T) {
	var sums strings.Builder
	for i, step := range steps {
		fmt.Fprintf(&sums, "%d %x\n", i+1, sha256.Sum256([]byte(step)))
	}
	if want := string(golden.Want(t, "testdata/steps.sum", []byte(sums.String()))); want != sums.String() {
		t.Errorf("a step that files have been through has changed: %s", cmp.Diff(want, sums.String()))
	}
}

// TestKilledWhileMigrating kills the process after each of the steps: the file has its old schema,
// and is migrated by the next. This test is that process too.
func TestKilledWhileMigrating(t *testing.T) {
	const from = 3
	if path := os.Getenv("VARQ_TEST_MIGRATE"); path != "" {
		after, _ := strconv.Atoi(os.Getenv("VARQ_TEST_STEP"))
		cut := slices.Clone(steps)
		cut[after] = "SELECT varq_test_stop()"
		_, err := openWith(path, cut)
		t.Fatal("migrated", err)
	}
	for after := from; after < len(steps); after++ {
		path := filepath.Join(t.TempDir(), "ledger.db")
		oldFile(t, path, from)
		schema, rows := shape(t, path)
		migrate := exec.Command(os.Args[0], "-test.run=^TestKilledWhileMigrating$")
		migrate.Env = append(os.Environ(), "VARQ_TEST_MIGRATE="+path, fmt.Sprintf("VARQ_TEST_STEP=%d", after))
		out, err := migrate.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := migrate.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if line != stopped || err != nil {
			t.Errorf("%q, %v", line, err)
		}
		_ = migrate.Process.Kill()
		_ = migrate.Wait()
		gotSchema, gotRows := shape(t, path)
		if version, err := sqlitefile.Version(path); version != from || err != nil || cmp.Diff(schema, gotSchema) != "" || cmp.Diff(rows, gotRows) != "" {
			t.Errorf("killed after step %d: the file has version %d, %v, %s %s", after, version, err, cmp.Diff(schema, gotSchema), cmp.Diff(rows, gotRows))
		}
		f := open(t, path)
		if entries, err := ledger.New(f).Select(t.Context(), ledger.Query{}); err != nil || len(entries) != 3 {
			t.Errorf("migrated afterwards: %v, %v", entries, err)
		}
	}
}

// An older varq leaves a later file alone, and says who has written it and what to do.
func TestLaterFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	oldFile(t, path, len(steps)-1)
	now := api.Version
	defer func() { api.Version = now }()
	api.Version = "9.1.0"
	f := open(t, path)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	schema, rows := shape(t, path)
	api.Version = "9.0.0"
	_, err := openWith(path, steps[:len(steps)-1])
	for _, want := range []string{
		path + ": written by a later version of varq: it has schema version " + strconv.Itoa(len(steps)) + ", and this varq knows " + strconv.Itoa(len(steps)-1),
		"Install varq 9.1.0 or later again (this is 9.0.0)", "varq ledger restore " + path + ".schema-" + strconv.Itoa(len(steps)-1),
	} {
		if !errors.Is(err, sqlitefile.ErrTooNew) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if gotSchema, gotRows := shape(t, path); cmp.Diff(schema, gotSchema) != "" || cmp.Diff(rows, gotRows) != "" {
		t.Error("the refused file has changed")
	}
	if err := os.Remove(path + ".schema-" + strconv.Itoa(len(steps)-1)); err != nil {
		t.Fatal(err)
	}
	if _, err := openWith(path, steps[:len(steps)-1]); !strings.Contains(fmt.Sprint(err), "varq ledger restore FILE, a backup from before the upgrade") {
		t.Error(err)
	}
	open(t, path)
}

// Of the backups the latest stay, and files with other names are none.
func TestBackupsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	other := path + ".schema-mine"
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for version := 1; version < 7; version++ {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		oldFile(t, path, version)
		open(t, path).Close()
	}
	found, err := filepath.Glob(path + ".*")
	want := []string{path + ".schema-4", path + ".schema-5", path + ".schema-6", other}
	if diff := cmp.Diff(want, found); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// On a full disk a file of an older varq stays as it was, whether the backup or the migration finds
// no room.
func TestMigrationOnAFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	refused, migrated := 0, 0
	for room := 0; migrated == 0; room += 32 << 10 {
		disk := t.TempDir()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
			t.Fatal(err)
		}
		defer syscall.Unmount(disk, syscall.MNT_DETACH)
		path := filepath.Join(disk, "ledger.db")
		oldFile(t, path, 5)
		schema, rows := shape(t, path)
		leave(t, disk, room)
		f, err := openWith(path, steps)
		if err == nil {
			migrated++
			f.Close()
			continue
		}
		refused++
		if !errors.Is(err, sqlitefile.ErrUnwritten) && !strings.Contains(err.Error(), "stays as it was") {
			t.Errorf("with %d bytes of room: %v", room, err)
		}
		if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
			t.Fatal(err)
		}
		if gotSchema, gotRows := shape(t, path); cmp.Diff(schema, gotSchema) != "" || cmp.Diff(rows, gotRows) != "" {
			t.Errorf("with %d bytes of room the file has changed", room)
		}
		if parts, err := filepath.Glob(filepath.Join(disk, "*.part-*")); err != nil || len(parts) > 0 {
			t.Errorf("%v is left, %v", parts, err)
		}
	}
	if refused < 2 {
		t.Errorf("refused %d times", refused)
	}
}

// leave fills the disk but for so many bytes.
func leave(t *testing.T, disk string, room int) {
	t.Helper()
	var free syscall.Statfs_t
	if err := syscall.Statfs(disk, &free); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(disk, "filler"), make([]byte, int(free.Bavail)*int(free.Bsize)-room), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A process that is killed while it copies the file leaves as much as the file takes. The next one
// that opens or restores the file removes that, and nothing else: a varqd that is killed again and
// again as it starts fills no disk.
func TestUnfinishedCopiesGo(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "ledger.db")
	stay := []string{"ledger.db.bak.part-5", "ledger.db.part-3.gz", "ledger.db.part-of-it", "ledger.db.schema-x.part-1", "other.db.part-1"}
	check := func(when string) {
		t.Helper()
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, e := range entries {
			if strings.Contains(e.Name(), ".part-") {
				left = append(left, e.Name())
			}
		}
		if diff := cmp.Diff(stay, left); diff != "" {
			t.Error(when, diff)
		}
	}
	leave := func() {
		t.Helper()
		for _, name := range append([]string{"ledger.db.schema-3.part-12", "ledger.db.schema-3.part-12-journal", "ledger.db.schema-24.part-7", "ledger.db.part-1", "ledger.db.part-1-wal"}, stay...) {
			if err := os.WriteFile(filepath.Join(folder, name), []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	oldFile(t, path, 3)
	leave()
	open(t, path).Close()
	check("opened")
	leave()
	if _, err := Restore(t.Context(), path+".schema-3", path, 1); err != nil {
		t.Fatal(err)
	}
	check("restored")
}

// Two builds of one version may know different schemas: then the version does not say which to
// install.
func TestLaterFileOfTheSameVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	open(t, path).Close()
	_, err := openWith(path, steps[:len(steps)-1])
	if !errors.Is(err, sqlitefile.ErrTooNew) || !strings.Contains(err.Error(), "Install the varq again that has written it") {
		t.Error(err)
	}
}

// A ledger on a disk without any room is not opened, nor begun, with words that say why; with room
// it is what it was.
func TestOpenOnAFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	for _, begun := range []bool{false, true} {
		disk := t.TempDir()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
			t.Fatal(err)
		}
		defer syscall.Unmount(disk, syscall.MNT_DETACH)
		path := filepath.Join(disk, "ledger.db")
		if begun {
			oldFile(t, path, len(steps)-1)
			open(t, path).Close()
		}
		leave(t, disk, 0)
		says := "there is no room left on the disk of " + disk
		if f, err := Open(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("begun %v: %v", begun, err)
			if err == nil {
				f.Close()
			}
		}
		if begun {
			if _, err := Check(t.Context(), path); err == nil || !strings.Contains(err.Error(), says) {
				t.Error(err)
			}
		}
		if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
			t.Fatal(err)
		}
		if entries, err := ledger.New(open(t, path)).Select(t.Context(), ledger.Query{}); err != nil || begun != (len(entries) > 0) {
			t.Errorf("begun %v: %d promises, %v", begun, len(entries), err)
		}
	}
}
