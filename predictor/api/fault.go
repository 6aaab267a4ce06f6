package api

import "errors"

// The kinds of errors for users. Fault makes an error of a kind with a text for the user.
// The server translates the kind into an HTTP status.
var (
	ErrInvalid     = errors.New("invalid request")
	ErrForbidden   = errors.New("not permitted")
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrUnavailable = errors.New("not available now")
)

// fault is an error of one of the kinds above, with a text of its own.
type fault struct {
	kind error
	text string
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.kind }

// Fault returns an error of the given kind. text is a clause for the user, without a full
// stop.
func Fault(kind error, text string) error { return &fault{kind, text} }
