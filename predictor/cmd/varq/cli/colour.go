package cli

// Colour is a colour of a terminal, by the number that ANSI's escape sequence has for it. The
// empty Colour leaves a text as it is.
type Colour string

// The colours.
const (
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
)

// Paint returns text in the colour.
func (c Colour) Paint(text string) string {
	if c == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// When says when to use colours.
type When string

// The values of When, as other commands' --color has them.
const (
	Auto   When = "auto" // on a terminal, unless NO_COLOR is set (no-color.org) or TERM is dumb
	Always When = "always"
	Never  When = "never"
)

// Whens are all values of When.
var Whens = []When{Auto, Always, Never}

// UseColour reports whether to use colours on Stdout.
func (e *Env) UseColour(when When) bool {
	switch when {
	case Always:
		return true
	case Auto:
		return e.Terminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
	default:
		return false
	}
}
