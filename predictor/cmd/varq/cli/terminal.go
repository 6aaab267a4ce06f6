package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Terminal reports whether w is a terminal. If so, width is the number of characters in a
// line of it, or 0 if the terminal does not know.
func Terminal(w io.Writer) (terminal bool, width int) {
	file, ok := w.(*os.File)
	if !ok {
		return false, 0
	}
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return false, 0
	}
	return true, int(size.Col)
}

// IsTerminal reports whether r is a terminal, or another character device such as
// /dev/null.
func IsTerminal(r io.Reader) bool {
	file, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
