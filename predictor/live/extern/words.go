package extern

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"unicode"
)

// maxWord bounds what is quoted of a program's words, in bytes.
const maxWord = 300

// lastWords takes in what a program writes to standard error: it goes to the log
// for debugging, and what explains the program's end is kept, which is where a
// Go program begins to panic, or else the last line, as in Python.
type lastWords struct {
	log *slog.Logger

	mu    sync.Mutex
	line  []byte // not ended yet
	last  string
	final bool
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

// String returns what was kept, in one line.
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
