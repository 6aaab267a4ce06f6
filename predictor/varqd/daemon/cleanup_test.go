package daemon

import (
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/varq-project/varq/predictor/live/statefile"
)

func TestCleanups(t *testing.T) {
	var c cleanups
	var done []string
	errStuck := errors.New("stuck")
	add := func(name string, err error) {
		c.add(name, func() error { done = append(done, name); return err })
	}
	add("ledger", nil)
	add("history", errStuck)
	add("socket", nil)
	err := c.run()
	if want := []string{"socket", "history", "ledger"}; !slices.Equal(done, want) {
		t.Errorf("in the order %v, want %v", done, want)
	}
	if !errors.Is(err, errStuck) || err.Error() != "history: stuck" {
		t.Errorf("error %v", err)
	}
	if err := c.run(); err != nil || len(done) != 3 {
		t.Errorf("once more: %v, %v", done, err)
	}
}

// New closes what it has opened if it fails.
func TestNewFails(t *testing.T) {
	c := testConfig(t)
	file, err := statefile.Open(c.Ledger.Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Exec("DROP TABLE odds"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err := New(Options{Config: c, Slurm: &fakeSlurm{}, Log: slog.New(slog.DiscardHandler)}); err == nil || d != nil {
		t.Errorf("%v, %v: a file without odds passes for a ledger", d, err)
	}
}
