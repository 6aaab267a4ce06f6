package page

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	sentence    = regexp.MustCompile(`([.?!][)"]?) +`)
	option      = regexp.MustCompile(`(?:\\-){2}[a-z0-9]+(?:\\-[a-z0-9]+)*`) // escaped
	placeholder = regexp.MustCompile(`\b[A-Z]+\b`)
	listed      = regexp.MustCompile(`,([^\s\d])`)
)

// prose returns a text of the help in mdoc(7): its paragraphs are filled, and what is indented
// stays as it is.
func prose(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		switch {
		case strings.HasPrefix(paragraph, "  "):
			b.WriteString(literal(paragraph)) // which leaves a line empty before it
		case i > 0:
			b.WriteString(".Pp\n" + filled(paragraph))
		default:
			b.WriteString(filled(paragraph))
		}
	}
	return b.String()
}

// filled returns a paragraph that has a line for each sentence, and options in bold. Where it is
// shown a line may end after each comma of a long list.
func filled(text string) string {
	text = sentence.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1\n")
	return lines(text, func(line string) string {
		return listed.ReplaceAllString(bold(escaped(line)), `,\:$1`)
	})
}

// literal returns a block that has the lines of a text as they are, but for their indentation of
// two.
func literal(text string) string {
	return ".Bd -literal -offset indent\n" + lines(text, func(line string) string {
		return escaped(strings.TrimPrefix(line, "  "))
	}) + ".Ed\n"
}

// usage returns how the arguments of a command are given, with options in bold, and what stands for
// something else in italics.
func usage(text string) string {
	return bold(placeholder.ReplaceAllString(escaped(text), `\fI$0\fP`))
}

// lines returns the lines of a text, each as written. None is taken for a request of roff's.
func lines(text string, written func(string) string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if line = written(line); strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			b.WriteString(`\&`)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// escaped returns a text in which backslashes and hyphens are shown as they are.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
}

// bold returns an escaped text with its options in bold.
func bold(text string) string {
	return option.ReplaceAllString(text, `\fB$0\fP`)
}

// upper returns a text with its first letter in upper case, and lower with it in lower case.
func upper(text string) string { return first(text, unicode.ToUpper) }
func lower(text string) string { return first(text, unicode.ToLower) }

func first(text string, letter func(rune) rune) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(letter(r)) + text[size:]
}
