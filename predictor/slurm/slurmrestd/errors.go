package slurmrestd

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/varq-project/varq/predictor/slurm"
)

// Error is the server's answer to a failed request. It wraps one of the errors of package
// slurm.
type Error struct {
	Request string // method and path
	Status  int    // of HTTP; 200 is possible
	Slurm   []SlurmError
	kind    error
}

// SlurmError is one entry of an answer's errors.
type SlurmError struct {
	Number      int64 // Slurm's error number
	Error       string
	Description string
	Source      string
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "slurmrestd: %s: ", e.Request)
	if len(e.Slurm) == 0 {
		fmt.Fprintf(&b, "%d %s", e.Status, http.StatusText(e.Status))
	}
	for i, s := range e.Slurm {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(s.Error)
		if s.Description != "" && s.Description != s.Error {
			fmt.Fprintf(&b, " (%s)", s.Description)
		}
	}
	return b.String()
}

// Unwrap returns the kind of the error.
func (e *Error) Unwrap() error { return e.kind }

// wireError is an entry of errors[]. Its field names differ between versions and between
// parts of one version.
type wireError struct {
	Error       text   `json:"error"`
	Description string `json:"description"`
	Source      string `json:"source"`
	Number      number `json:"error_number"`
	Code        number `json:"error_code"`
	Errno       number `json:"errno"`
}

func (w *wireError) slurmError() SlurmError {
	return SlurmError{
		Number:      w.Number.or(w.Code.or(w.Errno.or(0))),
		Error:       string(w.Error),
		Description: w.Description,
		Source:      w.Source,
	}
}

// Slurm's error numbers (slurm_errno.h) that mean more than a refusal.
const (
	errUnexpectedMessage = 1000
	errAuthentication    = 1007
	errAccessDenied      = 2002
	errUserIDMissing     = 2010 // also: another user's job
	errInvalidJobID      = 2017
	errAlreadyDone       = 2021
	errInStandby         = 2028
	errJobHeld           = 2042
	errDatabase          = 7000
	errDatabaseRefused   = 7001
	errNothingFound      = 9003
)

// kindOf sorts a failure by HTTP status and Slurm's error numbers.
func kindOf(status int, errs []SlurmError) error {
	for _, e := range errs {
		switch n := e.Number; {
		case n == errInvalidJobID, n == errAlreadyDone:
			return slurm.ErrNotFound
		case n == errAuthentication, n == errAccessDenied, n == errUserIDMissing:
			return slurm.ErrPermission
		case n >= 1000 && n < 1900, n == errInStandby, n == errDatabase, n == errDatabaseRefused:
			return slurm.ErrUnavailable
		case n >= 2000 && n < 7000:
			return slurm.ErrRefused
		}
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNetworkAuthenticationRequired:
		return slurm.ErrPermission
	case status == http.StatusNotFound:
		return slurm.ErrNotFound
	case status >= 500:
		return slurm.ErrUnavailable
	}
	return slurm.ErrRefused
}
