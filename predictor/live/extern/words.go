package extern

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"unicode"
)

// maxWord bounds a line that is quoted from a program's standard error, in bytes.
const maxWord = 300

// lastWords receives what a program writes to standard error. It writes each line to the log
// at level debug, and keeps the line that best explains the program's end: the first line of
// a Go panic or, as for Python, the last line.
type lastWords struct {
	log *slog.Logger

	mu    sync.Mutex
	line  []byte // the line that has not ended yet
	last  string
	final bool // last is a panic, and no later line replaces it
}

// Write implements io.Writer.
func (w *lastWords) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(data) {
		w.line = append(w.line, line[:min(len(line), maxWord-len(w.line))]...)
		if line[len(line)-1] == '\n' {
			w.said(printable(string(w.line)))
			w.line = w.line[:0]
		}
	}
	return len(data), nil
}

func (w *lastWords) said(line string) {
	if line == "" {
		return
	}
	if w.log.Enabled(context.Background(), slog.LevelDebug) {
		w.log.Debug("forecaster wrote", "line", line)
	}
	if !w.final {
		w.last = line
		w.final = strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	}
}

// String returns the kept line.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == "" {
		return printable(string(w.line))
	}
	return w.last
}

// printable returns s as one line of a log, cut after maxWord bytes.
func printable(s string) string {
	if len(s) > maxWord {
		s = s[:maxWord] + "..."
	}
	s = strings.ToValidUTF8(s, "?")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
}
