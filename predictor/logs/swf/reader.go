// Package swf reads and writes logs in the Standard Workload Format, version
// 2.2, of the Parallel Workloads Archive: a header of comments, then a line of
// 18 numbers for each job.
// See https://www.cs.huji.ac.il/labs/parallel/workload/swf.html.
package swf

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
)

// maxLine is the longest line read, in bytes.
const maxLine = 64 << 10

// Reader reads one log.
type Reader struct {
	name     string
	lines    *bufio.Reader
	file     *os.File // opened by Open, else nil
	line     int
	header   Header
	next     []byte // the first line after the header, until it is read
	err      error  // the last error; io.EOF at the end
	warnings []Warning
}

// Open opens the log at path, which may be compressed with gzip. The caller
// closes it.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("swf: %w", err)
	}
	reader, err := NewReader(path, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	reader.file = file
	return reader, nil
}

// NewReader returns a Reader of a log, plain or compressed with gzip. It reads the header.
// Errors name the log by name.
func NewReader(name string, r io.Reader) (*Reader, error) {
	lines := bufio.NewReaderSize(r, maxLine)
	if magic, _ := lines.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(lines)
		if err != nil {
			return nil, fmt.Errorf("swf: %s: %w", name, err)
		}
		lines = bufio.NewReaderSize(unzipped, maxLine)
	}
	reader := &Reader{name: name, lines: lines}
	reader.next, reader.err = reader.readRecordLine()
	return reader, nil
}

// Close closes the file of a Reader made by Open.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Progress returns the share of the file that has been read. It returns 0 for a pipe, and
// for a Reader that Open has not made.
func (r *Reader) Progress() float64 {
	if r.file == nil {
		return 0
	}
	info, err := r.file.Stat()
	if err != nil || info.Size() == 0 {
		return 0
	}
	offset, err := r.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return float64(offset) / float64(info.Size())
}

// Header returns the log's header, from the comments read so far. NewReader has read those
// at the top.
func (r *Reader) Header() Header { return r.header }

// Records yields the records that Read would return. An error ends the sequence.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var record Record
		for {
			err := r.Read(&record)
			if errors.Is(err, io.EOF) || !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Read reads the next record into rec without changing its values. It returns io.EOF after
// the last record. The error of a bad line names the file, line and field, and ends the
// reading. A number that is too large is Unknown, and counted, in a field that no forecast needs.
// Read does not check the order of submission.
func (r *Reader) Read(rec *Record) error {
	line := r.next
	r.next = nil
	if line == nil && r.err == nil {
		line, r.err = r.readRecordLine()
	}
	if r.err == nil {
		r.err = r.parse(line, rec)
	}
	if r.err == nil || errors.Is(r.err, io.EOF) {
		return r.err
	}
	*rec = Record{}
	return fmt.Errorf("swf: %s:%d: %w", r.name, r.line, r.err)
}

// readRecordLine returns the next line that is neither empty nor a comment, or
// io.EOF. The line is valid until the next call.
func (r *Reader) readRecordLine() ([]byte, error) {
	for {
		line, err := r.lines.ReadSlice('\n')
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return nil, err
		}
		r.line++
		switch {
		case err == nil || errors.Is(err, io.EOF):
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("line longer than %d bytes", maxLine)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("the compressed file is cut short, get it again: %w", err)
		default:
			return nil, err
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == ';':
			r.header.add(string(line[1:min(len(line), maxHeaderLine)]))
		default:
			return line, nil
		}
	}
}

// parse reads a record from a line without blanks around it.
func (r *Reader) parse(line []byte, rec *Record) error {
	var values [fields]int64
	var cpuTime float64
	n := 0
	for at := 0; at < len(line); {
		if line[at] == ' ' || line[at] == '\t' {
			at++
			continue
		}
		if n == fields {
			r.Warn(0, 0, "more than 18 fields; the rest is ignored")
			break
		}
		field := Field(n + 1)
		value, end := parseWhole(line, at)
		if end == at || end < len(line) && line[end] != ' ' && line[end] != '\t' {
			var ok bool
			end, ok = skipFraction(line, at, end)
			switch text := line[at:end]; {
			case !ok && field.spare() && len(bytes.Trim(text, "0123456789")) == 0:
				r.Warn(0, 0, fmt.Sprintf("%v: a number of more than 18 digits; taken as unknown", field))
				value = Unknown
				if field == FieldCPUTime {
					cpuTime = Unknown
				}
			case !ok:
				return fmt.Errorf("%v: bad number %q", field, shorten(text))
			case field == FieldCPUTime:
				cpuTime, _ = strconv.ParseFloat(string(text), 64)
			default:
				r.Warn(field, value, "has a fraction; dropped")
			}
		} else if field == FieldCPUTime {
			cpuTime = float64(value)
		}
		values[n] = value
		n++
		at = end
	}
	if n < minFields {
		return fmt.Errorf("%d fields, want %d", n, fields)
	}
	if n < fields {
		r.Warn(0, 0, "fewer than 18 fields; the rest is taken as unknown")
	}
	for ; n < fields; n++ {
		values[n] = Unknown
	}
	for i, top := range &tops {
		if top == 0 || values[i] <= top {
			continue
		}
		field := Field(i + 1)
		if !field.spare() {
			return fmt.Errorf("%v: %d is too large", field, values[i])
		}
		r.Warn(field, values[i], "is too large; taken as unknown")
		values[i] = Unknown
	}
	*rec = Record{values[0], values[1], values[2], values[3], values[4], cpuTime, values[6], values[7], values[8],
		values[9], values[10], values[11], values[12], values[13], values[14], values[15], values[16], values[17]}
	return nil
}

// The largest times, in seconds, and numbers of processors that are read. Sums of larger
// ones might overflow.
const (
	MaxSeconds    = 1 << 40
	MaxProcessors = 1 << 30
)

// tops has the largest accepted value of each field; 0 means no bound.
var tops = func() (t [fields]int64) {
	const memory = 1 << 32
	t[FieldSubmit-1], t[FieldWait-1], t[FieldRun-1], t[FieldReqTime-1] = MaxSeconds, MaxSeconds, MaxSeconds, MaxSeconds
	t[FieldProcs-1], t[FieldReqProcs-1] = MaxProcessors, MaxProcessors
	t[FieldReqMemory-1] = memory
	return t
}()

// parseWhole reads the integer of at most 18 digits at line[at:], and returns where it ends.
// If there is no such integer, it returns end = at.
func parseWhole(line []byte, at int) (value int64, end int) {
	first := at
	if line[at] == '-' {
		first++
	}
	end = first
	for end < len(line) && line[end]-'0' <= 9 {
		value = 10*value + int64(line[end]-'0')
		end++
	}
	if digits := end - first; digits == 0 || digits > 18 {
		return 0, at
	}
	if first > at {
		value = -value
	}
	return value, end
}

// skipFraction reads the fraction after the integer line[at:end], and returns where the
// field ends. It reports whether the field is a number.
func skipFraction(line []byte, at, end int) (fieldEnd int, ok bool) {
	ok = end > at && line[end] == '.'
	for fieldEnd = end; fieldEnd < len(line) && line[fieldEnd] != ' ' && line[fieldEnd] != '\t'; fieldEnd++ {
		if fieldEnd > end && line[fieldEnd]-'0' > 9 {
			ok = false
		}
	}
	return fieldEnd, ok
}

func shorten(s []byte) []byte { return s[:min(len(s), 40)] }
