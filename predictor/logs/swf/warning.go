package swf

import "fmt"

// Warning counts lines that are odd in the same way.
type Warning struct {
	Line  int    // the first such line
	Field Field  // the odd one; 0: the line as a whole
	Value int64  // of that field in that line
	Text  string // what is odd, and what was made of it
	Count int    // of such lines
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

// Warnings returns what was odd in the lines read so far, by first line.
func (r *Reader) Warnings() []Warning { return r.warnings }

// Warn counts an oddity of the record last read, found by who uses it, with
// those that the Reader finds itself. Lines with the same field and text are
// counted together.
func (r *Reader) Warn(f Field, value int64, text string) {
	for i := range r.warnings {
		if w := &r.warnings[i]; w.Field == f && w.Text == text {
			w.Count++
			return
		}
	}
	r.warnings = append(r.warnings, Warning{r.line, f, value, text, 1})
}
