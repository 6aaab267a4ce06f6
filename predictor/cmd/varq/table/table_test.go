package table

import (
	"strconv"
	"strings"
	"testing"
)

type record struct {
	name  string
	count int
}

var columns = []Column[record]{
	{Name: "Name", Value: func(r record) string { return r.name }},
	{Name: "Count", Right: true, Value: func(r record) string { return strconv.Itoa(r.count) }},
}

var records = []record{{"ada", 7}, {"josé", 12345678}}

func TestWrite(t *testing.T) {
	for _, test := range []struct {
		name, format string
		style        Style
		want         string
	}{
		{"aligned", "", Style{}, "Name    Count\n---- --------\nada         7\njosé 12345678\n"},
		{"no header", "", Style{NoHeader: true}, "ada         7\njosé 12345678\n"},
		{"parsable", "", Style{Parsable: true}, "Name|Count\nada|7\njosé|12345678\n"},
		{"parsable, no header", "", Style{Parsable: true, NoHeader: true}, "ada|7\njosé|12345678\n"},
		{"order and case", "count,NAME", Style{}, "   Count Name\n-------- ----\n       7 ada\n12345678 josé\n"},
		{"widths", "Name%6,Count%-4", Style{}, "  Name Cou+\n------ ----\n   ada 7\n  josé 123+\n"},
		{"widths do not cut what scripts read", "Count%4", Style{Parsable: true}, "Count\n7\n12345678\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			selected := columns
			if test.format != "" {
				var err error
				if selected, err = Select(columns, test.format); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			if err := Write(&out, selected, records, test.style); err != nil {
				t.Fatal(err)
			}
			if out.String() != test.want {
				t.Errorf("got\n%swant\n%s", out.String(), test.want)
			}
		})
	}
}

func TestWriteNothing(t *testing.T) {
	var out strings.Builder
	if err := Write(&out, columns, nil, Style{}); err != nil {
		t.Fatal(err)
	}
	if want := "Name Count\n---- -----\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestSelectRefuses(t *testing.T) {
	for _, format := range []string{"", "Nome", "Name,", "Name%", "Name%x", "Name%0", "Name%1001", "Name%-1001"} {
		if _, err := Select(columns, format); err == nil {
			t.Errorf("Select(%q): no error", format)
		}
	}
}

func FuzzSelect(f *testing.F) {
	f.Add("Name%20,count%-3")
	f.Fuzz(func(t *testing.T, format string) {
		selected, err := Select(columns, format)
		if err != nil {
			return
		}
		var out strings.Builder
		if err := Write(&out, selected, records, Style{}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(out.String(), "\n"); lines != 2+len(records) {
			t.Errorf("%q: %d lines for %d records", format, lines, len(records))
		}
	})
}
