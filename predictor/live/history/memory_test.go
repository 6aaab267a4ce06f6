package history

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/workload"
)

func add(t *testing.T, h *History, jobs []workload.Job, covered *Coverage) {
	t.Helper()
	if started, err := h.Add(t.Context(), jobs, covered); err != nil || len(started) != len(jobs) {
		t.Fatalf("%d of %d jobs added, %v", len(started), len(jobs), err)
	}
}

// wantUnstored fails the test unless the cache is in memory for a reason that contains text,
// and holds these jobs.
func wantUnstored(t *testing.T, h *History, text string, jobs []workload.Job, covered Coverage) {
	t.Helper()
	if err := h.Unstored(); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("in memory because of %v, want %s", err, text)
	}
	kept := map[int64]workload.Job{}
	for _, j := range collect(t, h) {
		kept[j.ID] = j
	}
	for _, j := range jobs {
		if diff := cmp.Diff(j, kept[j.ID]); diff != "" {
			t.Fatalf("job %d (-want +got):\n%s", j.ID, diff)
		}
	}
	if got, err := h.Coverage(t.Context()); err != nil || got != covered || len(kept) != len(jobs) {
		t.Errorf("%d jobs, want %d; coverage %+v, want %+v; %v", len(kept), len(jobs), got, covered, err)
	}
}

// A cache whose file cannot grow goes on in memory with all it knew.
func TestMovesToMemory(t *testing.T) {
	h := mustOpen(t, filepath.Join(t.TempDir(), "history.db"))
	jobs := synthetic(3000)
	covered := Coverage{Since: 1, Until: 2, Complete: true}
	add(t, h, jobs[:1000], &covered)
	if err := h.Unstored(); err != nil {
		t.Fatal(err)
	}
	file := h.db.Load()
	err := file.Write(t.Context(), func(tx *sql.Tx) error {
		var pages int
		if err := tx.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
			return err
		}
		_, err := tx.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages+1))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	covered.Until = 3
	add(t, h, jobs[1000:2000], &covered)
	wantUnstored(t, h, "full", jobs[:2000], covered)
	add(t, h, jobs[2000:], nil)
	wantUnstored(t, h, "full", jobs, covered)
	if err := h.Prune(t.Context(), 1<<40); err != nil {
		t.Fatal(err)
	}
	wantUnstored(t, h, "full", nil, covered)
}

// A cache that cannot be opened is empty and in memory.
func TestOpensInMemory(t *testing.T) {
	h, aside, err := Open(filepath.Join(t.TempDir(), "nowhere", "history.db"))
	if err != nil || aside != "" {
		t.Fatal(aside, err)
	}
	defer h.Close()
	jobs := synthetic(100)
	add(t, h, jobs, nil)
	wantUnstored(t, h, "no such file or directory", jobs, Coverage{})
}

// TestRealFullDisk fills a file system, before the cache is opened and while it is in use.
func TestRealFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	jobs := synthetic(2000)
	covered := Coverage{Since: 1, Until: 2, Complete: true}
	for _, known := range []int{0, 1000} { // jobs in the file when the disk fills
		disk := t.TempDir()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
			t.Fatal(err)
		}
		defer syscall.Unmount(disk, 0)
		path := filepath.Join(disk, "history.db")
		if known > 0 {
			h := mustOpen(t, path)
			add(t, h, jobs[:known], &covered)
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
		}
		fill(t, filepath.Join(disk, "other"))
		h, aside, err := Open(path)
		if err != nil || aside != "" {
			t.Fatal(aside, err)
		}
		before := collect(t, h)
		t.Logf("with %d jobs in the file: %d, in memory because of %v", known, len(before), h.Unstored())
		add(t, h, jobs[known:], &covered)
		if h.Unstored() == nil {
			t.Error("a full disk holds more jobs")
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
}
