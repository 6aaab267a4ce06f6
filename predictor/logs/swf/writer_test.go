package swf

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func readAll(t *testing.T, log string) (Header, []Record) {
	t.Helper()
	r, err := NewReader("log.swf", strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	var records []Record
	for record, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	return r.Header(), records
}

func write(t *testing.T, h *Header, records []Record) string {
	t.Helper()
	var log bytes.Buffer
	w := NewWriter(&log, h)
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

func TestWriter(t *testing.T) {
	header, records := readAll(t, strings.Replace(sample, "; Computer", "; Note: all is kept\n;   of a note\n; Computer", 1))
	const want = `; Version: 2.2
; Computer: IBM p655/p690
; Note: all is kept
;   of a note
; UnixStartTime: 1000000
; MaxNodes: 208
; MaxProcs: 1664
; Queue:  1 normal
; Queue:  2 high
; Partition:  3 main
; Partition:  4 UNKNOWN
; Partition:  5 UNKNOWN
    1      100     50    600   32 969.56    -1   32   1200    -1  1  14  10    -1  1  3 -1 -1
    2      110     70     -1   -1     -1    -1   16    900  2048  5  15  -1    -1  2  4 -1 -1
    3      120      0      0    8     -1    -1   -1     -1    -1  0  -1  -1    -1 -1 -1 -1 -1
    4      130     -1    300    1     -1    -1   -1     -1    -1 -1  14  -1    -1  1 -1 -1 -1
`
	got := write(t, &header, records)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	headerAgain, recordsAgain := readAll(t, got)
	if diff := cmp.Diff(header, headerAgain, cmpopts.IgnoreFields(Header{}, "Notice")); diff != "" {
		t.Errorf("header read back (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(records, recordsAgain); diff != "" {
		t.Errorf("records read back (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, write(t, &headerAgain, recordsAgain)); diff != "" {
		t.Errorf("written again (-want +got):\n%s", diff)
	}
}

// FuzzWriter: a log that can be read can be written and read again.
func FuzzWriter(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("; Queue: 3 \n; Queue: 999 a:b, c\n;MaxProcs:7x\n;\n;;\n1 0 1 1 1 1.5 1 1 1 1 1\n; late: 1\n"))
	f.Add([]byte(";Partition:0 " + strings.Repeat("n", maxHeaderLine)))
	f.Fuzz(func(t *testing.T, log []byte) {
		r, err := NewReader("fuzz", bytes.NewReader(log))
		if err != nil {
			return
		}
		var records []Record
		for record, err := range r.Records() {
			if err != nil {
				return
			}
			records = append(records, record)
		}
		header := r.Header()
		gotHeader, got := readAll(t, write(t, &header, records))
		if diff := cmp.Diff(records, got); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(header, gotHeader, cmpopts.IgnoreFields(Header{}, "Notice")); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
	})
}
