package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
)

// apart is the error of an answer by a varqd that does not speak this varq's version of the API any
// more, else nil.
func (c *Client) apart(got *reply) error {
	if got.apis == "" || slices.Contains(strings.Split(strings.ReplaceAll(got.apis, " ", ""), ","), api.API) {
		return nil
	}
	return fmt.Errorf("varqd at %s (%s) speaks %s of its API only, and this varq (%s) %s: upgrade varq on this host",
		c.endpoint, shown(got.version), shown(got.apis), api.Version, api.API)
}

// noSuch is what varqd says of a parameter that it does not know.
func noSuch(parameter string) string { return parameter + ": no such parameter" }

// newer returns what varqd says in a refusal, and, if that is that it knows something not, that it
// is older than this varq.
func (c *Client) newer(method, path string, got *reply) error {
	err := got.refusal()
	said := err.Error()
	path, _, _ = strings.Cut(path, "?")
	if said != "there is no "+method+" "+path && !strings.HasSuffix(said, ": no such field") && !strings.HasSuffix(said, noSuch("")) {
		return err
	}
	if c.Site == "" && got.version == api.Version {
		return err
	}
	is := "of an earlier version"
	if c.Site == "" && got.version != "" { // else it is that of the one that relays
		is = "version " + shown(got.version)
	}
	return fmt.Errorf("%w; %s does not know what this varq (%s) asks, as it is %s: upgrade varqd, or leave out the option that is new", err, c.whose(), api.Version, is)
}
