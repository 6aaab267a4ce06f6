package client

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/varq-project/varq/predictor/said"
)

// whose names the varqd whose answer it is: that of the site that is meant, or the one that is
// asked.
func (c *Client) whose() string {
	if c.Site != "" {
		return "varqd of site " + c.Site
	}
	return "varqd at " + c.endpoint
}

// garbled says why an answer could not be read, without the names of Go types.
func garbled(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err.Error()
	case wrong.Field == "":
		return shown(fmt.Sprintf("a JSON %s is not what was asked for", wrong.Value))
	}
	return shown(fmt.Sprintf("%s cannot be a JSON %s", wrong.Field, wrong.Value))
}

// maxSaid is how much of what the other end says is told, in bytes.
const maxSaid = 1000

// shown returns what the other end says as one line that a terminal may show: another site is not
// trusted with more.
func shown(text string) string { return said.Line(text, maxSaid) }
