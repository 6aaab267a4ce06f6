package said

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"job 7 at beta has started":   "job 7 at beta has started",
		"größe":                       "größe",
		"\x1b]0;owned\x07\x1b[31m":    "?]0;owned??[31m",
		"red\nvarq: second line":      "red?varq: second line",
		"\u202egnirts":                "?gnirts",
		"\xff":                        "\uFFFD",
		strings.Repeat("a", 40):       strings.Repeat("a", 40),
		strings.Repeat("a", 41):       strings.Repeat("a", 40) + "...",
		"a" + strings.Repeat("ä", 40): "a" + strings.Repeat("ä", 19) + "...",
	} {
		if got := Line(text, 40); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("\x1b[2Jgone\n\u202e\xff", 7)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 0 || most > 1<<16 {
			return
		}
		line := Line(text, most)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q is shown as %q", text, line)
		}
		if len(line) > 3*most+3 { // of a byte that is not a character, U+FFFD has three
			t.Errorf("%q of %d bytes is cut to %q", text, most, line)
		}
	})
}
