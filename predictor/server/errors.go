package server

import (
	"errors"
	"net/http"
)

// The errors that a Service tells a user about; it wraps them with a sentence.
var (
	ErrInvalid     = errors.New("invalid request")
	ErrForbidden   = errors.New("not permitted")
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrUnavailable = errors.New("not available now")
)

// fault is an error with a text of its own that is one of the errors above.
type fault struct {
	kind error
	text string
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.kind }

// Fault returns an error of the given kind that reads text.
func Fault(kind error, text string) error { return &fault{kind, text} }

var statuses = []struct {
	err    error
	status int
}{
	{ErrInvalid, http.StatusBadRequest},
	{ErrForbidden, http.StatusForbidden},
	{ErrNotFound, http.StatusNotFound},
	{ErrConflict, http.StatusConflict},
	{ErrUnavailable, http.StatusServiceUnavailable},
	{errUnauthorized, http.StatusUnauthorized},
	{errTooLarge, http.StatusRequestEntityTooLarge},
}

var (
	errUnauthorized = errors.New("unauthorized")
	errTooLarge     = errors.New("too large")
)

// statusOf returns the HTTP status of err, 500 for an unforeseen one.
func statusOf(err error) int {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	return http.StatusInternalServerError
}
