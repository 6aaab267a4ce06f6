package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// No varqd waits for a ledger that is not there, or is where a lock does not last.
func TestMayTakeOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := MayTakeOver(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a ledger: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MayTakeOver(path); err != nil {
		t.Error(err)
	}
	defer func() { statfs = unix.Statfs }()
	for magic, name := range networks {
		statfs = func(_ string, on *unix.Statfs_t) error {
			on.Type = int64(magic)
			return nil
		}
		if err := MayTakeOver(path); !strings.Contains(fmt.Sprint(err), path+" is on "+name) {
			t.Errorf("on %s: %v", name, err)
		}
	}
}
