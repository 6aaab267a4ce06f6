package server

import (
	"errors"
	"net/http"

	"github.com/varq-project/varq/predictor/api"
)

// statuses are the HTTP statuses of the kinds of errors.
var statuses = []struct {
	err    error
	status int
}{
	{api.ErrInvalid, http.StatusBadRequest},
	{api.ErrForbidden, http.StatusForbidden},
	{api.ErrNotFound, http.StatusNotFound},
	{api.ErrConflict, http.StatusConflict},
	{api.ErrUnavailable, http.StatusServiceUnavailable},
	{errUnauthorized, http.StatusUnauthorized},
	{errTooLarge, http.StatusRequestEntityTooLarge},
	{errTooMany, http.StatusTooManyRequests},
}

var (
	errUnauthorized = errors.New("unauthorized")
	errTooLarge     = errors.New("too large")
	errTooMany      = errors.New("too many requests")
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
