package swf

import (
	"cmp"
	"strconv"
	"strings"
)

// Header has the data of the comments at the top of a log. A missing number is 0.
type Header struct {
	Computer      string
	Installation  string
	UnixStartTime int64 // Unix seconds at which the log's own times start
	MaxNodes      int64
	MaxProcs      int64
	MaxJobs       int64
	MaxRecords    int64
	Queues        map[int64]string
	Partitions    map[int64]string
	// Notice has every header line without its semicolon, with acknowledgements and
	// terms of use.
	Notice []string
}

// maxNotice bounds the header lines that are kept, maxHeaderLine the bytes of a line, and
// maxName the bytes of a name.
const (
	maxNotice     = 10_000
	maxHeaderLine = 1000
	maxName       = 200
)

// add reads one comment line, without its semicolon. People write headers, so text may
// follow a number.
func (h *Header) add(line string) {
	if len(h.Notice) < maxNotice {
		h.Notice = append(h.Notice, strings.TrimRight(line, " \t\r"))
	}
	key, value, ok := cutComment(line)
	if !ok {
		return
	}
	switch key {
	case "Computer":
		h.Computer = cmp.Or(h.Computer, cutName(value))
	case "Installation":
		h.Installation = cmp.Or(h.Installation, cutName(value))
	case "UnixStartTime":
		h.UnixStartTime = leadingNumber(value)
	case "MaxNodes":
		h.MaxNodes = leadingNumber(value)
	case "MaxProcs":
		h.MaxProcs = leadingNumber(value)
	case "MaxJobs":
		h.MaxJobs = leadingNumber(value)
	case "MaxRecords":
		h.MaxRecords = leadingNumber(value)
	case "Queue":
		addName(&h.Queues, value)
	case "Partition":
		addName(&h.Partitions, value)
	}
}

// ownKeys has the keys of the header lines that fields of Header other than Notice hold.
var ownKeys = map[string]bool{"Version": true, "Computer": true, "Installation": true, "UnixStartTime": true,
	"MaxNodes": true, "MaxProcs": true, "MaxJobs": true, "MaxRecords": true, "Queue": true, "Partition": true}

// cutComment splits "MaxProcs: 128" at the colon. It reports whether there is
// one.
func cutComment(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, ":")
	return strings.TrimSpace(key), strings.TrimSpace(value), ok
}

// leadingNumber returns the number at the beginning of s, such as 1664 of
// "1664 (72, 1368, 224)", or 0 if there is none.
func leadingNumber(s string) int64 {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// addName adds an entry such as "3  normal" to a list of queues or partitions.
func addName(list *map[int64]string, value string) {
	fields := strings.Fields(value)
	if len(fields) == 0 {
		return
	}
	number, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || number < 0 || len(*list) >= maxNotice {
		return
	}
	if *list == nil {
		*list = make(map[int64]string)
	}
	name := ""
	if len(fields) > 1 {
		name = strings.TrimRight(cutName(fields[1]), ",")
	}
	(*list)[number] = name
}

// cutName returns at most maxName bytes of a name. A longer name might not fit into its line
// when the line is written again.
func cutName(s string) string { return strings.TrimSpace(s[:min(len(s), maxName)]) }
