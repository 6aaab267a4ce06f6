package statefile

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// keptBackups is how many backups from before upgrades stay beside the file: of the latest schema
// versions.
const keptBackups = 3

// signedSince is the schema version since which files tell who has brought them to it.
const signedSince = 24

// infix is between the name of a file and the schema version in the name of its backup.
const infix = ".schema-"

// backup is a backup that was made before an upgrade.
type backup struct {
	path    string
	version int // of its schema
}

// backUp copies the file path before it is migrated from one schema version to another.
func backUp(path string, from, to int) error {
	into := path + infix + strconv.Itoa(from)
	if err := sqlitefile.Backup(context.Background(), path, into); err != nil {
		return fmt.Errorf("%s stays as it was, with schema version %d, which this varq would take to %d: the backup of it cannot be made before: %w; "+
			"make room there for as much as it takes itself, and start varqd again", path, from, to, err)
	}
	all, err := backups(path)
	if err != nil {
		return err
	}
	for _, old := range all[min(keptBackups, len(all)):] {
		if err := os.Remove(old.path); err != nil {
			return err
		}
	}
	return nil
}

// backups returns the backups beside the file path, the latest schema version first.
func backups(path string) ([]backup, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var all []backup
	for _, entry := range entries {
		if version, is := backupOf(path, entry.Name()); is {
			all = append(all, backup{filepath.Join(filepath.Dir(path), entry.Name()), version})
		}
	}
	slices.SortFunc(all, func(a, b backup) int { return cmp.Compare(b.version, a.version) })
	return all, nil
}

// backupOf reports whether a name in the folder of the file path is that of a backup of it, and of
// which schema version.
func backupOf(path, name string) (version int, is bool) {
	digits, is := strings.CutPrefix(name, filepath.Base(path)+infix)
	version, err := strconv.Atoi(digits)
	return version, is && err == nil
}

// sweep removes what upgrades and restorations of the file path have left that were killed: each
// time a copy of all of it. The caller has the lock of the file.
func sweep(path string) error {
	return sqlitefile.Sweep(filepath.Dir(path), func(to string) bool {
		_, is := backupOf(path, to)
		return is || to == filepath.Base(path)
	})
}

// signed returns the steps, of which the last also notes that this varq has brought the file to
// their schema version: the note is in the file if and only if the step is.
func signed(steps []string) []string {
	last := len(steps) - 1
	if len(steps) < signedSince {
		return steps
	}
	note := fmt.Sprintf(";\nINSERT INTO schemas VALUES (%d, '%s', unixepoch()) ON CONFLICT DO NOTHING;", len(steps), strings.ReplaceAll(api.Version, "'", "''"))
	return append(slices.Clone(steps[:last]), steps[last]+note)
}

// remedy says what to do about a file path of which this varq knows the schema up to a version
// only.
func remedy(path string, knows int) string {
	install := "Install the varq again that has written it"
	if varq := lastWriter(path); varq != "" && varq != api.Version {
		install = fmt.Sprintf("Install varq %s or later again (this is %s)", varq, api.Version)
	}
	from := "FILE, a backup from before the upgrade"
	all, err := backups(path)
	if i := slices.IndexFunc(all, func(b backup) bool { return b.version <= knows }); err == nil && i >= 0 {
		from = all[i].path
	}
	return fmt.Sprintf("%s; or go back to what was there before the upgrade, and lose the promises made since: varq ledger restore %s", install, from)
}

// lastWriter returns the version of varq that has brought the file path to the schema version it
// has, or nothing if that cannot be told.
func lastWriter(path string) string {
	db, err := sqlitefile.OpenToRead(path)
	if err != nil {
		return ""
	}
	defer db.Close()
	version, err := sqlitefile.Version(path)
	if err != nil {
		return ""
	}
	varq, err := writer(context.Background(), db, version)
	if err != nil {
		return ""
	}
	return varq
}
