package every

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	login1 = holder{Host: "login1", Kernel: "1"}
	login2 = holder{Host: "login2", Kernel: "2"}
)

// newStore returns a store in a new folder.
func newStore(t *testing.T) *store {
	t.Helper()
	s, err := openStore(filepath.Join(t.TempDir(), "every"), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

func at(clock int64) func() int64 { return func() int64 { return clock } }

// unlocked makes the lock that is held no concern of others, as where each host has locks of its
// own.
func (s *store) unlocked(t *testing.T) {
	t.Helper()
	if err := s.root.Remove("lock"); err != nil {
		t.Fatal(err)
	}
}

// take takes a turn, without patience.
func (s *store) take(t *testing.T, whose holder, clock int64) *turn {
	t.Helper()
	taken, err := s.takeTurn(t.Context(), 0, whose, at(clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.lock.Close() })
	return taken
}

// busy checks that there is no turn to be had, and what is said of that.
func (s *store) busy(t *testing.T, whose holder, clock int64, says string) {
	t.Helper()
	if _, err := s.takeTurn(t.Context(), 0, whose, at(clock)); !errors.Is(err, ErrBusy) || !strings.HasSuffix(err.Error(), says) {
		t.Errorf("%v", err)
	}
}

// Two at a time of one host do not work on the same folder: one waits for the other.
func TestOneHost(t *testing.T) {
	s := newStore(t)
	first := s.take(t, login1, saturday)
	s.busy(t, login1, saturday, "when it is done")
	time.AfterFunc(200*time.Millisecond, func() { first.end() })
	second, err := s.takeTurn(t.Context(), time.Hour, login1, at(saturday))
	if err != nil {
		t.Fatal(err)
	}
	// It is killed: the lock goes with it, and nobody waits.
	second.lock.Close()
	s.take(t, login1, saturday)
}

// Nor do two of different hosts, also where locks are of each host alone.
func TestTwoHosts(t *testing.T) {
	s := newStore(t)
	first := s.take(t, login1, saturday)
	s.unlocked(t)
	// as the hosts' clocks are
	for _, clock := range []int64{saturday, saturday + 20*60, saturday - 20*60} {
		s.busy(t, login2, clock, "(on login1)")
	}
	if err := first.end(); err != nil {
		t.Error(err)
	}
	second := s.take(t, login2, saturday-600)
	s.unlocked(t)
	s.busy(t, login1, saturday, "(on login2)")
	// The second goes on, each time within half an hour.
	if err := second.goOn(saturday + 1500); err != nil {
		t.Error(err)
	}
	s.busy(t, login1, saturday+3000, "(on login2)")
}

// A host that crashes, or is started anew, does not keep others away for longer than half an hour.
// If it was not that, it ends before it does anything.
func TestCrashedHost(t *testing.T) {
	s := newStore(t)
	first := s.take(t, login1, saturday)
	s.unlocked(t)
	s.busy(t, login2, saturday+lost-1, "(on login1)")
	second := s.take(t, login2, saturday+lost)
	if err := first.goOn(saturday + lost); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	if err := second.goOn(saturday + lost); err != nil {
		t.Error(err)
	}
}

// Of many hosts that begin at once, one does, and each in its turn.
func TestManyHosts(t *testing.T) {
	s := newStore(t)
	const hosts, rounds = 8, 20
	for round := range rounds {
		begun := make([]error, hosts)
		turns := make([]*turn, hosts)
		var all sync.WaitGroup
		for i := range hosts {
			turns[i] = &turn{store: s, whose: holder{Host: "login", Kernel: string(rune('a' + i))}}
			all.Go(func() { begun[i] = turns[i].begin(saturday) })
		}
		all.Wait()
		n := 0
		for i, err := range begun {
			switch {
			case err == nil:
				n++
				turns[i].whose.Over = true
				if err := s.write(turnName(turns[i].number), turns[i].whose); err != nil {
					t.Fatal(err)
				}
			case !errors.Is(err, ErrBusy):
				t.Error(err)
			}
		}
		if n != 1 {
			t.Fatalf("round %d: %d at once", round, n)
		}
	}
	if numbers, err := s.turns(); err != nil || len(numbers) > turnsKept+1 || numbers[len(numbers)-1] != rounds {
		t.Error(numbers, err)
	}
}

// A turn whose file is garbled is over.
func TestGarbledTurn(t *testing.T) {
	s := newStore(t)
	for _, text := range []string{"", "{", `{"at":"x"}`, strings.Repeat("x", 2*maxTurn)} {
		if err := s.root.WriteFile(turnName(7), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if h, err := s.holder(7); err != nil || !h.Over {
			t.Error(h, err)
		}
	}
	if begun := s.take(t, login1, saturday); begun.number != 8 {
		t.Error(begun.number)
	}
}

// When it is somebody else's turn, nothing is submitted and nothing is written.
func TestTurnIsLost(t *testing.T) {
	f := start(t)
	f.store.unlocked(t)
	f.store.take(t, login2, saturday+86400)
	if _, err := f.at("2026-11-22T06:00"); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	f.want(0)
}

// What was checked is what is opened: nobody puts another folder in its place afterwards.
func TestFolderIsExchanged(t *testing.T) {
	s := newStore(t)
	series := &Series{ID: "aaaaaa", Made: saturday}
	if err := s.save(series); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.dir, s.dir+".aside"); err != nil {
		t.Fatal(err)
	}
	evil, err := openStore(s.dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer evil.close()
	if err := evil.save(&Series{ID: "aaaaaa", Program: "/evil", Made: 1}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.load("aaaaaa"); err != nil || got.Program != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if all, broken := s.list(); len(all) != 1 || broken != nil || all[0].Made != saturday {
		t.Error(all, broken)
	}
	for _, err := range []error{s.ran(7), s.save(series), s.remove("aaaaaa")} {
		if err != nil {
			t.Error(err)
		}
	}
	if evil.lastRun() != 0 {
		t.Error("it wrote into the other")
	}
	if all, _ := evil.list(); len(all) != 1 {
		t.Error("it removed from the other")
	}
	// A link in the folder does not lead out of it.
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(outside, []byte(`{"id":"bbbbbb"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.root.Symlink(outside, "bbbbbb.json"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.load("bbbbbb"); err == nil {
		t.Error("it is read")
	}
}
