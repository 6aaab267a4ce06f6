package cluster

import (
	"os"
	"testing"
)

func TestSelfIsAlive(t *testing.T) {
	p := self()
	if !p.alive() {
		t.Errorf("%+v is this process, and not alive", p)
	}
	p.Start++
	if p.alive() {
		t.Errorf("%+v is another process of the same id, and alive", p)
	}
	s, err := readStat(os.Getpid())
	if err != nil || s.parent != os.Getppid() {
		t.Errorf("readStat: %+v, %v", s, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("1 (a) b) c) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 42 0 0")
	f.Add("1 (")
	f.Add(")(")
	f.Fuzz(func(t *testing.T, line string) {
		if s, err := parseStat(line); err == nil && s.state == 0 {
			t.Errorf("parsed %q without a state", line)
		}
	})
}

func TestParseStat(t *testing.T) {
	got, err := parseStat("1 (a) b) S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 42 0 0")
	if want := (procStat{"a) b", 'S', 7, 1, 42}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
