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
