package swf

import (
	"bufio"
	"io"
	"strconv"
)

// Writer writes a log.
type Writer struct {
	w    *bufio.Writer
	line []byte
}

// NewWriter starts a log with the header, but not its Notice. The caller flushes
// it in the end.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	buffered := bufio.NewWriter(w)
	if err := h.write(buffered); err != nil {
		return nil, err
	}
	return &Writer{w: buffered}, nil
}

// Write adds a record.
func (w *Writer) Write(r Record) error {
	line := w.line[:0]
	for i, value := range [...]int64{r.Job, r.Submit, r.Wait, r.Run, r.Procs, 0, r.Memory, r.ReqProcs, r.ReqTime,
		r.ReqMemory, r.Status, r.User, r.Group, r.Executable, r.Queue, r.Partition, r.PrecedingID, r.ThinkTime} {
		if i > 0 {
			line = append(line, ' ')
		}
		if i == cpuTimeField {
			line = strconv.AppendFloat(line, r.CPUTime, 'f', -1, 64)
		} else {
			line = strconv.AppendInt(line, value, 10)
		}
	}
	line = append(line, '\n')
	w.line = line
	_, err := w.w.Write(line)
	return err
}

// Flush writes what is still buffered.
func (w *Writer) Flush() error { return w.w.Flush() }
