package api

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the values of fields.
const (
	// MaxTime is the last time that a request can name, in Unix seconds.
	MaxTime = 1 << 40
	// MaxName is the greatest length of a name, in bytes.
	MaxName = 256
	// MaxSpan is the longest time, in seconds, that a request can name: a year.
	MaxSpan = 366 * 24 * 3600
)

func (c *checker) time(field Field, at int64) {
	c.wrong(at < 0 || at > MaxTime, field, "%d is not a time", at)
}

func (c *checker) moment(field Field, at int64) {
	c.wrong(at <= 0 || at > MaxTime, field, "%d is not a time", at)
}

// probability checks a probability that may be left out.
func (c *checker) probability(field Field, p float64) {
	c.wrong(p != 0 && !inside(p), field, "%v is not a probability between 0 and 1", p)
}

// inside reports whether p is a probability that is neither 0 nor 1.
func inside(p float64) bool { return p > 0 && p < 1 }

func (c *checker) between(field Field, n, least, most int64) {
	c.wrong(n < least || n > most, field, "%d is not between %d and %d", n, least, most)
}

func (c *checker) span(field Field, seconds, most int64) {
	c.wrong(seconds < 0 || seconds > most, field, "%v is not between %v and %v", span(seconds), span(0), span(most))
}

// either checks a text that may be left out, or is one of two.
func (c *checker) either(field Field, text, one, other string) {
	c.wrong(text != "" && text != one && text != other, field, "%.40q is neither %s nor %s", text, one, other)
}

// printable reports whether a text may be part of a request.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

func (c *checker) name(field Field, text string) {
	c.wrong(len(text) > MaxName, field, "it is longer than %d bytes", MaxName)
	c.wrong(!printable(text), field, "it has characters that no name has")
}

// CheckName returns an error if a text is too long for a name, or not one.
func CheckName(field Field, text string) error {
	var c checker
	c.name(field, text)
	return c.err()
}

func (c *checker) plan(id string) {
	c.wrong(!ValidPlanID(id), "plan", "%.20q is not the identifier of a plan", id)
}

func (c *checker) jobID(job int64) { c.wrong(job <= 0, "job", "%d is not a job id", job) }

// IsSiteName reports whether a cluster may be called so: 1 to 40 of a-z, 0-9, _, . and -, of which
// the last two do not come first. Slurm's names are in lower case.
func IsSiteName(name string) bool {
	other := func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_.-", r) }
	return name != "" && len(name) <= 40 && !strings.ContainsFunc(name, other) && !strings.ContainsAny(name[:1], ".-")
}

func (c *checker) site(field Field, name string) {
	c.wrong(name != "" && !IsSiteName(name), field, "%.40q is not the name of a site", name)
}
