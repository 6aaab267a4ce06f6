// Package progress shows the progress of a long command and its remaining time. On a terminal
// it shows a bar, elsewhere it writes a line now and then.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// When progress is shown. A quick command shows none.
const (
	patience = 2 * time.Second        // before the first bar on a terminal
	redraw   = 100 * time.Millisecond // between two bars
	remind   = 15 * time.Second       // between lines elsewhere
)

// widest is the largest length of a bar, in characters.
const widest = 40

// Meter shows the progress of one command. Its methods may be called from
// several goroutines.
type Meter struct {
	w       io.Writer
	width   func() int // of the terminal in characters; 0: there is none
	elapsed func() time.Duration

	mu      sync.Mutex
	started bool
	began   time.Duration // the clock at the first call of Show
	base    float64       // the part done already at that call
	shown   time.Duration // the clock when something was last written, or began
	drawn   int           // characters on the terminal's line
}

// New returns a meter that writes to w, the command's standard error. elapsed returns the time
// since a fixed moment.
func New(w io.Writer, elapsed func() time.Duration) *Meter {
	return &Meter{w: w, width: widthOf(w), elapsed: elapsed}
}

// widthOf returns a function that reads the present width of the terminal behind w.
func widthOf(w io.Writer) func() int {
	file, ok := w.(*os.File)
	if !ok {
		return func() int { return 0 }
	}
	return func() int {
		size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			return 0
		}
		return max(1, int(size.Col))
	}
}

// Show shows that a part of the work, from 0 to 1, is done. words say the same in words ("12
// of 40 cases"). A part of 0 may also mean that the part is unknown. The first call starts
// the clock. Frequent calls are cheap: most only read the clock.
func (m *Meter) Show(part float64, words string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.elapsed()
	if !m.started {
		m.started, m.began, m.base, m.shown = true, now, part, now
	}
	if now-m.began < patience || now-m.shown < redraw {
		return
	}
	width := m.width()
	if width == 0 && now-m.shown < remind {
		return
	}
	m.shown = now
	text := words + ", " + m.times(part, now-m.began)
	if width == 0 {
		fmt.Fprintln(m.w, text)
		return
	}
	width-- // the last column would break the line
	m.draw(fit(bar(part, text, width), width))
}

// Close clears the bar. The meter may still be used.
func (m *Meter) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drawn > 0 {
		m.draw("")
		fmt.Fprint(m.w, "\r")
	}
}

// times describes the time taken and, if it is known, the time left.
func (m *Meter) times(part float64, elapsed time.Duration) string {
	text := clock(elapsed)
	if part > m.base && part < 1 {
		rest := float64(elapsed) * (1 - part) / (part - m.base)
		text += ", " + clock(time.Duration(rest)) + " left"
	}
	return text
}

func clock(d time.Duration) string { return slurmtime.FormatDuration(int64(d.Seconds())) }

// bar puts a bar before text if part is known and there is room.
func bar(part float64, text string, width int) string {
	room := min(widest, width-utf8.RuneCountInString(text)-len("[] 100 % "))
	if part <= 0 || room < 5 {
		return text
	}
	full := int(min(part, 1) * float64(room))
	return fmt.Sprintf("[%s%s] %3.0f %% %s",
		strings.Repeat("=", full), strings.Repeat(" ", room-full), 100*min(part, 1), text)
}

// fit cuts text to a number of characters.
func fit(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width])
	}
	return text
}

// draw replaces the terminal's line.
func (m *Meter) draw(text string) {
	length := utf8.RuneCountInString(text)
	fmt.Fprint(m.w, "\r"+text+strings.Repeat(" ", max(0, m.drawn-length)))
	m.drawn = length
}
