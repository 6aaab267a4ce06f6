package swf

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// widths has the widths of the columns in the archive's logs. A wider number shifts the
// columns after it.
var widths = [fields]int{5, 8, 6, 6, 4, 6, 5, 4, 6, 5, 2, 3, 3, 5, 2, 2, 2, 2}

// Writer writes a log.
type Writer struct {
	w    *bufio.Writer
	line []byte
}

// NewWriter returns a Writer to w, and writes the header. The caller must call Flush at the
// end.
func NewWriter(w io.Writer, h *Header) *Writer {
	writer := &Writer{w: bufio.NewWriterSize(w, 64<<10)}
	h.write(writer.w)
	return writer
}

// Write writes one record. The output is buffered, so a later call may return the error.
func (w *Writer) Write(r *Record) error {
	values := [fields]int64{r.Job, r.Submit, r.Wait, r.Run, r.Procs, 0, r.Memory, r.ReqProcs, r.ReqTime, r.ReqMemory,
		r.Status, r.User, r.Group, r.Executable, r.Queue, r.Partition, r.PrecedingID, r.ThinkTime}
	var digits [32]byte
	line := w.line[:0]
	for i, value := range values {
		number := digits[:0]
		if Field(i+1) == FieldCPUTime {
			number = strconv.AppendFloat(number, r.CPUTime, 'f', -1, 64)
		} else {
			number = strconv.AppendInt(number, value, 10)
		}
		if i > 0 {
			line = append(line, ' ')
		}
		for range widths[i] - len(number) {
			line = append(line, ' ')
		}
		line = append(line, number...)
	}
	line = append(line, '\n')
	w.line = line
	_, err := w.w.Write(line)
	return err
}

// Flush writes the buffered output, and returns the first error of the Writer.
func (w *Writer) Flush() error { return w.w.Flush() }

// write writes the header's comments: its fields, and the lines of Notice that are not among
// these.
func (h *Header) write(w *bufio.Writer) {
	fmt.Fprintln(w, "; Version: 2.2")
	for _, f := range []struct{ key, value string }{{"Computer", h.Computer}, {"Installation", h.Installation}} {
		if f.value != "" {
			fmt.Fprintf(w, "; %s: %s\n", f.key, f.value)
		}
	}
	for _, line := range h.Notice {
		if key, _, _ := cutComment(line); !ownKeys[key] {
			fmt.Fprintf(w, ";%s\n", line)
		}
	}
	for _, f := range []struct {
		key   string
		value int64
	}{
		{"UnixStartTime", h.UnixStartTime}, {"MaxNodes", h.MaxNodes}, {"MaxProcs", h.MaxProcs},
		{"MaxJobs", h.MaxJobs}, {"MaxRecords", h.MaxRecords},
	} {
		if f.value > 0 {
			fmt.Fprintf(w, "; %s: %d\n", f.key, f.value)
		}
	}
	writeNames(w, "Queue", h.Queues)
	writeNames(w, "Partition", h.Partitions)
}

func writeNames(w *bufio.Writer, key string, names map[int64]string) {
	for _, number := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(w, "; %s: %2d %s\n", key, number, names[number])
	}
}
