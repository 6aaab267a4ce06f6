package api

import "errors"

// The kinds of errors that reach a user. Fault makes an error of a kind that reads
// as a sentence for the user; the server turns the kind into an HTTP status.
var (
	ErrInvalid     = errors.New("invalid request")
	ErrForbidden   = errors.New("not permitted")
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrUnavailable = errors.New("not available now")
)

// fault is an error with a text of its own that is of one of the kinds above.
type fault struct {
	kind error
	text string
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.kind }

// Fault returns an error of the given kind that reads text.
func Fault(kind error, text string) error { return &fault{kind, text} }
