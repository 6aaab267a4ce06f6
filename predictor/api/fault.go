package api

import (
	"errors"
	"net/http"
)

// The kinds of errors for users. Fault makes an error of a kind with a text for the user.
// The server translates the kind into an HTTP status, and the client the status into the kind.
var (
	ErrInvalid     = errors.New("invalid request")
	ErrForbidden   = errors.New("not permitted")
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrUnavailable = errors.New("not available now")
)

// statuses are the HTTP statuses of the kinds of errors.
var statuses = []struct {
	kind   error
	status int
}{
	{ErrInvalid, http.StatusBadRequest},
	{ErrForbidden, http.StatusForbidden},
	{ErrNotFound, http.StatusNotFound},
	{ErrConflict, http.StatusConflict},
	{ErrUnavailable, http.StatusServiceUnavailable},
}

// Status returns the HTTP status of an error of one of the kinds, and 0 for any other.
func Status(err error) int {
	for _, s := range statuses {
		if errors.Is(err, s.kind) {
			return s.status
		}
	}
	return 0
}

// KindOf returns the kind of errors that has an HTTP status, or nil.
func KindOf(status int) error {
	for _, s := range statuses {
		if s.status == status {
			return s.kind
		}
	}
	return nil
}

// Refused reports whether err is a decision of varqd's: a fault of a kind that does not pass by
// itself.
func Refused(err error) bool {
	return Status(err) != 0 && !errors.Is(err, ErrUnavailable)
}

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
