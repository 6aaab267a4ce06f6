package swf

import "fmt"

// Warning counts lines that are odd in the same way.
type Warning struct {
	Line  int    // the first such line
	Field Field  // the odd field; 0 for the line as a whole
	Value int64  // of the field in the first such line
	Text  string // what is odd, and how it was read
	Count int    // number of such lines
}

// String names line and field: "line 17: field 5 (allocated processors): 512 is
// more than the machine's 400; left out (3 such lines)".
func (w Warning) String() string {
	s := fmt.Sprintf("line %d: %s", w.Line, w.Text)
	if w.Field > 0 {
		s = fmt.Sprintf("line %d: %v: %d %s", w.Line, w.Field, w.Value, w.Text)
	}
	if w.Count > 1 {
		s += fmt.Sprintf(" (%d such lines)", w.Count)
	}
	return s
}

// Warnings returns the warnings about the lines read so far, by first line.
func (r *Reader) Warnings() []Warning { return r.warnings }

// Warn counts a warning about the last record read. It is for oddities that the Reader's
// user finds. Lines with the same field and text are counted together.
func (r *Reader) Warn(f Field, value int64, text string) {
	for i := range r.warnings {
		if w := &r.warnings[i]; w.Field == f && w.Text == text {
			w.Count++
			return
		}
	}
	r.warnings = append(r.warnings, Warning{r.line, f, value, text, 1})
}
