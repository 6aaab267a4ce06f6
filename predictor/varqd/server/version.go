package server

import (
	"fmt"
	"regexp"

	"github.com/varq-project/varq/predictor/api"
)

// versioned is a path of some version of the API.
var versioned = regexp.MustCompile(`^/(v[0-9]{1,3})/`)

// unknownPath is the error of a path that there is not. One of another version of the API is told
// apart.
func unknownPath(method, path string) error {
	if match := versioned.FindStringSubmatch(path); match != nil && match[1] != api.API {
		return api.Fault(api.ErrNotFound, fmt.Sprintf("this varqd (%s) speaks %s of its API only, and was asked in %s: upgrade varqd, or use the varq of its version",
			api.Version, api.API, match[1]))
	}
	return api.Fault(api.ErrNotFound, fmt.Sprintf("there is no %s %.200s", method, path))
}
