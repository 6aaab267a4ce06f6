package slurmrestd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// number is a number, an integer in most fields. The versions of the API write it as 5, "5", null,
// or {"set":true,"infinite":false,"number":5}.
type number struct {
	value    int64
	fraction float64 // what was cut off of value
	set      bool    // there is a finite value
	infinite bool
	present  bool // the field is in the answer, be it null
}

// Slurm's constants for "no value" and "infinite", in 32 and 64 bits. Some versions of the
// API write these as numbers.
const (
	noValue32  = math.MaxUint32 - 1
	infinite32 = math.MaxUint32
	noValue64  = math.MaxUint64 - 1
	infinite64 = math.MaxUint64
)

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(data []byte) error {
	*n = number{present: true}
	switch {
	case len(data) == 0 || bytes.Equal(data, []byte("null")):
		return nil
	case data[0] == '{':
		if n.parseUsual(data) {
			return nil
		}
		var object struct {
			Set      *bool
			Infinite bool
			Number   json.Number
		}
		if err := json.Unmarshal(data, &object); err != nil {
			return err
		}
		if object.Infinite {
			n.infinite = true
			return nil
		}
		if object.Set != nil && !*object.Set || object.Number == "" {
			return nil
		}
		return n.parse(object.Number.String())
	case data[0] == '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		switch strings.ToUpper(text) {
		case "":
			return nil
		case "INFINITE", "UNLIMITED":
			n.infinite = true
			return nil
		}
		return n.parse(text)
	}
	return n.parse(string(data))
}

// parseUsual parses an object as slurmrestd writes it: {"set":true,"infinite":false,"number":5}. It
// reports false, and changes nothing, if data is anything else. A big site's queue has a million
// such objects.
func (n *number) parseUsual(data []byte) bool {
	data, set, ok := cutBool(data, `{"set":`)
	if !ok {
		return false
	}
	data, infinite, ok := cutBool(data, `,"infinite":`)
	if !ok {
		return false
	}
	data, ok = bytes.CutPrefix(data, []byte(`,"number":`))
	if !ok || len(data) < 2 || len(data) > 10 || data[len(data)-1] != '}' {
		return false
	}
	value := int64(0)
	for _, digit := range data[:len(data)-1] {
		if digit < '0' || digit > '9' {
			return false
		}
		value = 10*value + int64(digit-'0') // less than any of Slurm's constants
	}
	if n.infinite = infinite; set && !infinite {
		n.value, n.set = value, true
	}
	return true
}

// cutBool returns what of data is behind a prefix and a boolean, and that boolean.
func cutBool(data []byte, prefix string) (rest []byte, is, ok bool) {
	rest, ok = bytes.CutPrefix(data, []byte(prefix))
	if !ok {
		return nil, false, false
	}
	if after, ok := bytes.CutPrefix(rest, []byte("true")); ok {
		return after, true, true
	}
	after, ok := bytes.CutPrefix(rest, []byte("false"))
	return after, false, ok
}

func (n *number) parse(text string) error {
	if value, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch value {
		case noValue32, -2:
		case infinite32, -1:
			n.infinite = true
		default:
			n.value, n.set = value, true
		}
		return nil
	}
	if value, err := strconv.ParseUint(text, 10, 64); err == nil {
		n.infinite = value == infinite64
		return nil // nothing that Slurm counts is as large as that
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(value) >= math.MaxInt64 || math.IsNaN(value) {
		return fmt.Errorf("bad number %.40q", text)
	}
	n.value, n.set = int64(value), true
	n.fraction = value - float64(n.value)
	return nil
}

// or returns the value, or fallback if there is none.
func (n number) or(fallback int64) int64 {
	if n.set {
		return n.value
	}
	return fallback
}

// exact returns the value with its fraction, 0 if there is none.
func (n number) exact() float64 { return float64(n.value) + n.fraction }

// count returns the value as a count: at least 0, at most the largest int32.
func (n number) count() int32 {
	return int32(min(max(n.or(0), 0), math.MaxInt32))
}

// words is a list of words. The versions of the API write it as "PENDING",
// ["PENDING","REQUEUED"] or null. A string is split at its commas.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(data []byte) error {
	*w = nil
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(w))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text != "" {
		*w = strings.Split(text, ",")
	}
	return nil
}

// text is a string that some versions write as a number or an object.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	*t = ""
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	var n number
	if err := n.UnmarshalJSON(data); err != nil {
		return err
	}
	if n.set {
		*t = text(strconv.FormatInt(n.value, 10))
	}
	return nil
}

// comment is a job's comment. It is a string in the queue. In accounting it is an object
// with the comments of the user, the administrator and the system.
type comment string

// UnmarshalJSON implements json.Unmarshaler.
func (c *comment) UnmarshalJSON(data []byte) error {
	*c = ""
	if len(data) > 0 && data[0] == '{' {
		var object struct{ Job string }
		err := json.Unmarshal(data, &object)
		*c = comment(object.Job)
		return err
	}
	return json.Unmarshal(data, (*string)(c))
}

// limit returns the number, or nil if none is set.
func (n number) limit() *int64 {
	if !n.set {
		return nil
	}
	return &n.value
}
