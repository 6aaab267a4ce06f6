package chaos

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/live/statefile"
)

// TestReadLedger: a ledger is read in a folder that is named as seen from here, as make chaos does.
func TestReadLedger(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("build", 0o755); err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Abs("build/ledger.db")
	if err != nil {
		t.Fatal(err)
	}
	file, err := statefile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if rows, err := readLedger("build/ledger.db"); err != nil || len(rows) != 0 {
		t.Errorf("%v, %v", rows, err)
	}
}
