package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if is, width := Terminal(terminal); !is || width != 0 {
		t.Errorf("a terminal that does not know its width: %v, %d", is, width)
	}
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 81}); err != nil {
		t.Fatal(err)
	}
	if is, width := Terminal(terminal); !is || width != 81 {
		t.Errorf("a terminal: %v, %d", is, width)
	}
	if is, width := Terminal(file); is || width != 0 {
		t.Errorf("a file: %v, %d", is, width)
	}
	if is, width := Terminal(new(strings.Builder)); is || width != 0 {
		t.Errorf("no file: %v, %d", is, width)
	}
}

func TestUseColour(t *testing.T) {
	for _, test := range []struct {
		when     When
		terminal bool
		env      string // a variable that is set
		want     bool
	}{
		{Auto, true, "", true},
		{Auto, false, "", false},
		{Auto, true, "NO_COLOR=1", false},
		{Auto, true, "NO_COLOR=", true},
		{Auto, true, "TERM=dumb", false},
		{Always, false, "NO_COLOR=1", true},
		{Never, true, "", false},
	} {
		env := Env{Terminal: test.terminal, Getenv: func(name string) string {
			set, value, _ := strings.Cut(test.env, "=")
			if set != name {
				return ""
			}
			return value
		}}
		if got := env.UseColour(test.when); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
