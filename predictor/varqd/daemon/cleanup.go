package daemon

import (
	"errors"
	"fmt"
	"slices"
)

// cleanups release what was acquired, the latest first.
type cleanups []cleanup

type cleanup struct {
	name string // of what it releases, for errors
	do   func() error
}

// add adds a cleanup, which runs before those added earlier.
func (c *cleanups) add(name string, do func() error) { *c = append(*c, cleanup{name, do}) }

// run runs every cleanup, also after one that fails, and then forgets them all. It joins
// their errors, each with the name of its cleanup.
func (c *cleanups) run() error {
	var errs []error
	for _, last := range slices.Backward(*c) {
		if err := last.do(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", last.name, err))
		}
	}
	*c = nil
	return errors.Join(errs...)
}
