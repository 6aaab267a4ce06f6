package progress

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// meter returns a meter on a terminal of a width, 0 for no terminal. pass advances its clock.
func meter(width int) (m *Meter, out *bytes.Buffer, pass func(time.Duration)) {
	out = &bytes.Buffer{}
	now := 100 * time.Second
	m = New(out, func() time.Duration { return now })
	m.width = func() int { return width }
	return m, out, func(d time.Duration) { now += d }
}

func TestLines(t *testing.T) {
	m, out, pass := meter(0)
	for range 21 { // a call a second
		m.Show(.25, "1 of 4 cases")
		pass(time.Second)
	}
	m.Show(.5, "2 of 4 cases")
	pass(9 * time.Second)
	m.Show(.5, "2 of 4 cases")
	pass(15 * time.Second)
	m.Show(1, "4 of 4 cases")
	m.Close()
	want := "1 of 4 cases, 00:00:15\n" +
		"2 of 4 cases, 00:00:30, 00:01:00 left\n" +
		"4 of 4 cases, 00:00:45\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

func TestQuickIsQuiet(t *testing.T) {
	for width, seconds := range map[int]int{0: 14, 80: 2} {
		m, out, pass := meter(width)
		for range seconds {
			m.Show(.5, "half")
			pass(time.Second)
		}
		m.Close()
		if out.Len() > 0 {
			t.Errorf("said %q on a terminal of %d characters", out, width)
		}
	}
}

func TestBar(t *testing.T) {
	m, out, pass := meter(80)
	m.Show(0, "0 jobs")
	pass(10 * time.Second)
	m.Show(.25, "1,000 jobs")
	pass(50 * time.Millisecond)
	m.Show(.26, "not drawn")
	pass(10 * time.Second)
	m.Show(1, "done")
	m.Close()
	want := []string{
		"[==========                              ]  25 % 1,000 jobs, 00:00:10, 00:00:30 left",
		"[========================================] 100 % done, 00:00:20",
		"", "",
	}
	got := strings.Split(out.String(), "\r")[1:]
	if len(got) != len(want) {
		t.Fatalf("drew %q", got)
	}
	// The first line has less room than the widest bar needs.
	if len(got[0]) != 79 || !strings.HasSuffix(got[0], "]  25 % 1,000 jobs, 00:00:10, 00:00:30 left") {
		t.Errorf("drew %q", got[0])
	}
	if strings.TrimRight(got[1], " ") != want[1] || len(got[1]) != 79 {
		t.Errorf("drew %q, want %q and blanks over what was there", got[1], want[1])
	}
	if got[2] != strings.Repeat(" ", len(want[1])) || got[3] != "" {
		t.Errorf("closing left %q", got[2:])
	}
}

// TestNarrow: the line fits the terminal, and has no bar if there is no room.
func TestNarrow(t *testing.T) {
	for width := 1; width < 60; width++ {
		m, out, pass := meter(width)
		m.Show(.1, "")
		pass(time.Minute)
		m.Show(.5, "3 of 4 käses")
		if line := []rune(strings.TrimPrefix(out.String(), "\r")); len(line) >= width {
			t.Errorf("%d characters on a terminal of %d: %q", len(line), width, string(line))
		}
	}
}

func TestUnknownPart(t *testing.T) {
	m, out, pass := meter(80)
	m.Show(0, "")
	pass(time.Minute)
	m.Show(0, "5,000 jobs")
	if want := "\r5,000 jobs, 00:01:00"; out.String() != want {
		t.Errorf("drew %q, want %q", out, want)
	}
}

func TestNoTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if n := New(file, nil).width(); n != 0 {
		t.Errorf("a file is a terminal of %d characters", n)
	}
	if n := New(&bytes.Buffer{}, nil).width(); n != 0 {
		t.Errorf("a buffer is a terminal of %d characters", n)
	}
}
