package cli

import (
	"fmt"
	"strings"
)

// Quote quotes s as one word for a shell.
func Quote(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Words returns the words of a command line as a shell reads them, but expands nothing. The error
// says which quote is not closed.
func Words(line string) (words []string, err error) {
	var word strings.Builder
	quote, in := rune(0), false // within a word
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			if quote != 0 && !strings.ContainsRune("\"\\$`", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, in = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		case quote == 0 && !in && r == '#': // a comment
			return words, nil
		default:
			word.WriteRune(r)
			in = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote (%c) is not closed", quote)
	case in:
		words = append(words, word.String())
	}
	return words, nil
}
