package server

import (
	"errors"
	"net/http"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/sqlitefile"
)

// statuses are the HTTP statuses of the errors that are not faults of package api.
var statuses = []struct {
	err    error
	status int
}{
	{errUnauthorized, http.StatusUnauthorized},
	{errTooLarge, http.StatusRequestEntityTooLarge},
	{errTooMany, http.StatusTooManyRequests},
	{sqlitefile.ErrUnwritten, http.StatusServiceUnavailable},
}

var (
	errUnauthorized = errors.New("unauthorized")
	errTooLarge     = errors.New("too large")
	errTooMany      = errors.New("too many requests")
)

// statusOf returns the HTTP status of err, 500 for an unforeseen one.
func statusOf(err error) int {
	if status := api.Status(err); status != 0 {
		return status
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	return http.StatusInternalServerError
}
