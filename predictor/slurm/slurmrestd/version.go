package slurmrestd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurm"
)

// family is one of the two parts of the API, each with versions of its own.
type family string

const (
	controller family = "slurm"   // slurmctld: queue, nodes, partitions
	database   family = "slurmdb" // slurmdbd: past jobs, associations, QOS
)

// version is the N of v0.0.N.
type version int

// The versions of the API that this package can read. v0.0.45 does not tell which jobs are
// exclusive ("shared" is empty for all, and nothing is in its place), so that more would be
// promised than there is room for. Every Slurm that serves it serves v0.0.44, until 27.11.
const (
	oldest version = 38
	newest version = 44
)

// lastFlat is the last version that writes a partition as a flat object, and reads the time
// in an update as a text. Later versions nest the object, and read a number.
const lastFlat version = 38

// firstRepeated is the first version that reads a list of past jobs from a repeated key, and tells
// the runs of a job before its last requeue only if asked to. The oldest reads a list with commas,
// and tells all runs. What the version between them does is not known.
const firstRepeated version = 40

// String returns the version as in a path: "v0.0.42".
func (v version) String() string { return fmt.Sprintf("v0.0.%d", int(v)) }

// versions has the version to use for each family.
type versions map[family]version

// documents has the paths at which releases of Slurm serve their OpenAPI document.
var documents = []string{"/openapi", "/openapi/v3"}

// serverVersions returns the versions to use. The first call reads the server's OpenAPI
// document. Nobody waits for the reading of another: that may have more time.
func (c *Client) serverVersions(ctx context.Context) (versions, error) {
	if known := c.versions.Load(); known != nil {
		return *known, nil
	}
	var err error
	for _, path := range documents {
		var v versions
		if v, err = c.readVersions(ctx, path); err == nil {
			c.versions.Store(&v)
			return v, nil
		}
		if !errors.Is(err, slurm.ErrNotFound) {
			break
		}
	}
	return nil, err
}

func (c *Client) forgetVersions() { c.versions.Store(nil) }

func (c *Client) readVersions(ctx context.Context, path string) (versions, error) {
	response, err := c.send(ctx, c.opts.User, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return nil, c.failure("GET "+path, response)
	}
	var served []string
	err = readAnswer(ctx, "GET "+path, newDecoder(response.Body, c.maxAnswer/4), fields{
		"paths": {read: func(d *decoder) error {
			return readObject(d, func(path string, d *decoder) error {
				served = append(served, path)
				return skipValue(d)
			})
		}},
	})
	if err != nil {
		return nil, err
	}
	return chooseVersions(served)
}

// chooseVersions returns the newest version of each family that is both served
// and known here.
func chooseVersions(paths []string) (versions, error) {
	served := map[family][]version{}
	for _, path := range paths {
		part := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
		if len(part) < 3 {
			continue
		}
		digits, ok := strings.CutPrefix(part[1], "v0.0.")
		if n, err := strconv.Atoi(digits); ok && err == nil {
			served[family(part[0])] = append(served[family(part[0])], version(n))
		}
	}
	chosen := make(versions)
	for _, f := range []family{controller, database} {
		for _, v := range served[f] {
			if oldest <= v && v <= newest {
				chosen[f] = max(chosen[f], v)
			}
		}
		if chosen[f] == 0 {
			return nil, noVersion(f, served[f])
		}
	}
	return chosen, nil
}

// noVersion says that none of the versions of a family that are served can be read.
func noVersion(f family, served []version) error {
	if len(served) > 0 && slices.Min(served) > newest {
		return fmt.Errorf("slurmrestd serves the /%s API from %v on, and this varq reads it up to %v: %w", f, slices.Min(served), newest, slurm.ErrVersion)
	}
	return fmt.Errorf("slurmrestd serves no /%s API from %v to %v", f, oldest, newest)
}
