// Package swf reads logs in the Standard Workload Format, version
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

	"github.com/varq-project/varq/predictor/workload"
)

// maxLine is the longest line read, in bytes.
const maxLine = 64 << 10

// fieldNames are the names of a record's fields, for errors.
var fieldNames = [...]string{"job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time",
	"used memory", "requested processors", "requested time", "requested memory", "status", "user", "group", "executable",
	"queue", "partition", "preceding job", "think time"}

// minFields is the number of fields without which a line is of no use: all up
// to the status.
const minFields = 11

// Warning counts lines that are odd but could be used.
type Warning struct {
	Text  string
	Line  int // the first such line
	Count int
}

// Reader reads one log.
type Reader struct {
	name     string
	lines    *bufio.Reader
	closer   io.Closer
	line     int
	header   Header
	next     []byte // the first line after the header
	err      error  // met while looking for it
	newest   int64  // submit time so far
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
	reader.closer = file
	return reader, nil
}

// NewReader reads a log, plain or compressed with gzip, up to the end of its
// header. Errors speak of it by name.
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
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// Header returns what is known of the log from the comments read so far: the
// whole header, as they stand at the top.
func (r *Reader) Header() Header { return r.header }

// Warnings returns what was odd in the lines read so far.
func (r *Reader) Warnings() []Warning { return r.warnings }

// Jobs yields the log's jobs. Their times are Unix seconds if the header has
// UnixStartTime, else seconds since the start of the log. The partition is the
// log's partition and the QOS its queue; in a log without partitions the
// partition is the queue. A job's nodes are the fewest that have the processors
// it asked for. A wait or run time that is unknown leaves Start and End 0.
func (r *Reader) Jobs() iter.Seq2[workload.Job, error] {
	return func(yield func(workload.Job, error) bool) {
		convert := newConverter(&r.header)
		for record, err := range r.Records() {
			if err != nil {
				yield(workload.Job{}, err)
				return
			}
			if !yield(convert.job(&record), nil) {
				return
			}
		}
	}
}

// Records yields the log's records as they stand. Of a bad line the error names
// the file, line and field, and ends the sequence.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			line, err := r.next, r.err
			if line == nil && err == nil {
				line, err = r.readRecordLine()
			}
			r.next = nil
			if errors.Is(err, io.EOF) {
				return
			}
			var record Record
			if err == nil {
				record, err = r.parse(line)
			}
			if err != nil {
				yield(Record{}, fmt.Errorf("swf: %s:%d: %w", r.name, r.line, err))
				return
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// readRecordLine returns the next line that is neither empty nor a comment, or
// io.EOF. The line is valid until the next call.
func (r *Reader) readRecordLine() ([]byte, error) {
	for {
		line, err := r.lines.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return nil, err
		}
		r.line++
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("line longer than %d bytes", maxLine)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == ';':
			r.header.add(string(line[1:]))
		default:
			return line, nil
		}
	}
}

func (r *Reader) parse(line []byte) (Record, error) {
	var values [len(fieldNames)]int64
	var cpuTime float64
	n := 0
	for at := 0; at < len(line); {
		if line[at] == ' ' || line[at] == '\t' {
			at++
			continue
		}
		end := at
		for end < len(line) && line[end] != ' ' && line[end] != '\t' {
			end++
		}
		if n == len(fieldNames) {
			r.warn("more than 18 fields")
			break
		}
		value, fractional, ok := parseNumber(line[at:end])
		if !ok {
			return Record{}, fmt.Errorf("field %d (%s): bad number %q", n+1, fieldNames[n], shorten(line[at:end]))
		}
		switch {
		case n == cpuTimeField && fractional:
			cpuTime, _ = strconv.ParseFloat(string(line[at:end]), 64)
		case n == cpuTimeField:
			cpuTime = float64(value)
		case fractional:
			r.warn("a fraction in a whole number")
		}
		values[n] = value
		n++
		at = end
	}
	if n < minFields {
		return Record{}, fmt.Errorf("%d fields, want %d", n, len(fieldNames))
	}
	if n < len(fieldNames) {
		r.warn("fewer than 18 fields")
	}
	for ; n < len(fieldNames); n++ {
		values[n] = Unknown
	}
	record := Record{values[0], values[1], values[2], values[3], values[4], cpuTime, values[6], values[7], values[8],
		values[9], values[10], values[11], values[12], values[13], values[14], values[15], values[16], values[17]}
	return record, r.check(&record)
}

const cpuTimeField = 5

// Larger values would overflow sums of times, or counts.
const (
	maxSeconds    = 1 << 40
	maxProcessors = 1 << 30
	maxMemory     = 1 << 32
)

// check refuses a record that cannot be used, and counts the odd.
func (r *Reader) check(rec *Record) error {
	for _, f := range [...]struct {
		index      int
		value, top int64
	}{
		{1, rec.Submit, maxSeconds}, {2, rec.Wait, maxSeconds}, {3, rec.Run, maxSeconds}, {4, rec.Procs, maxProcessors},
		{7, rec.ReqProcs, maxProcessors}, {8, rec.ReqTime, maxSeconds}, {9, rec.ReqMemory, maxMemory},
	} {
		if f.value > f.top {
			return fmt.Errorf("field %d (%s): %d is too large", f.index+1, fieldNames[f.index], f.value)
		}
		if f.value < Unknown {
			r.warn("a negative " + fieldNames[f.index])
		}
	}
	if rec.Submit < r.newest {
		r.warn("submitted before the line above")
	}
	r.newest = rec.Submit
	if rec.Run > 0 && rec.Procs <= 0 && rec.ReqProcs <= 0 {
		r.warn("ran on no processors")
	}
	return nil
}

func (r *Reader) warn(text string) {
	for i := range r.warnings {
		if r.warnings[i].Text == text {
			r.warnings[i].Count++
			return
		}
	}
	r.warnings = append(r.warnings, Warning{text, r.line, 1})
}

// parseNumber reads the whole part of a decimal number, and reports whether it
// has a fraction.
func parseNumber(s []byte) (whole int64, fractional, ok bool) {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	i := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		if i == 18 {
			return 0, false, false
		}
		whole = 10*whole + int64(s[i]-'0')
	}
	if i == 0 {
		return 0, false, false
	}
	if negative {
		whole = -whole
	}
	if i == len(s) {
		return whole, false, true
	}
	onlyDigits := len(bytes.Trim(s[i+1:], "0123456789")) == 0
	return whole, true, s[i] == '.' && onlyDigits
}

func shorten(s []byte) []byte { return s[:min(len(s), 40)] }
