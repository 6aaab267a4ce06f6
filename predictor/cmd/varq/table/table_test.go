package table

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
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

// What people have written harms no terminal, and splits no record.
func TestUnprintable(t *testing.T) {
	for _, style := range []Style{{}, {Parsable: true}} {
		var out strings.Builder
		if err := Write(&out, columns, []record{{"\x1b[31mred\nnl", 1}}, style); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.Contains(text, "\x1b") || !strings.Contains(text, "?[31mred?nl") {
			t.Errorf("%q", text)
		}
	}
}

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

func TestColour(t *testing.T) {
	painted := slices.Clone(columns)
	for i := range painted {
		painted[i].Colour = func(r record) cli.Colour {
			if r.count == 7 {
				return cli.Red
			}
			return ""
		}
	}
	for style, want := range map[Style]string{
		{Colour: true}:                 "Name    Count\n---- --------\n\x1b[31mada\x1b[0m         \x1b[31m7\x1b[0m\njosé 12345678\n",
		{Colour: true, Parsable: true}: "Name|Count\nada|7\njosé|12345678\n",
		{}:                             "Name    Count\n---- --------\nada         7\njosé 12345678\n",
	} {
		var out strings.Builder
		if err := Write(&out, painted, records, style); err != nil || out.String() != want {
			t.Errorf("%+v: got %q, want %q", style, out.String(), want)
		}
	}
}

func TestFit(t *testing.T) {
	text := func(name, value string, spare int) Column[record] {
		return Column[record]{Name: name, Spare: spare, Value: func(record) string { return value }}
	}
	note := text("Note", strings.Repeat("a", 39)+"é", 0) // 40 characters
	note.Long = true
	fixed := note
	fixed.Width = 36
	// 5+1+6+1+5+1+40
	all := []Column[record]{text("First", "1", 0), text("Second", "2", 2), text("Third", "3", 1), note}
	for _, test := range []struct {
		columns []Column[record]
		width   int
		fitting string // names and widths
		left    string
		last    string // of the line
	}{
		{all, 59, "First 5 Second 6 Third 5 Note 40", "", "aé"},
		{all, 58, "First 5 Second 6 Third 5 Note 39", "", "a…"},
		{all, 47, "First 5 Second 6 Third 5 Note 28", "", "a…"},
		{all, 46, "First 5 Second 6 Note 33", "Third", "a…"},
		{all, 40, "First 5 Note 34", "Third,Second", "a…"},
		{all, 10, "First 5 Note 4", "Third,Second", "a…"},
		{all, 9, "First 5 Note 40", "Third,Second", "aé"}, // no way
		{all[:3], 18, "First 5 Second 6 Third 5", "", "3"},
		{all[:3], 17, "First 5 Second 6", "Third", "2"},
		{all[1:3], 1, "", "Third,Second", ""},
		{[]Column[record]{all[0], fixed}, 20, "First 5 Note 36", "", "a+"},
	} {
		fitting, left := Fit(test.columns, records[:1], test.width)
		var got []string
		for _, c := range fitting {
			got = append(got, c.Name, strconv.Itoa(c.Width))
		}
		if strings.Join(got, " ") != test.fitting || Names(left) != test.left {
			t.Errorf("%d: %v, left out %v; want %s and %s", test.width, got, Names(left), test.fitting, test.left)
		}
		var out strings.Builder
		if err := Write(&out, fitting, records[:1], Style{NoHeader: true}); err != nil || !strings.HasSuffix(out.String(), test.last+"\n") {
			t.Errorf("%d: %v %q", test.width, err, out.String())
		}
	}
	if all[3].Width != 0 || all[3].mark != "" {
		t.Error("Fit changed its argument")
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
