package daemon

import (
	"errors"
	"fmt"
	"slices"
)

// cleanups give back what was acquired, in the opposite order.
type cleanups []cleanup

type cleanup struct {
	name string // of what it gives back, for errors
	do   func() error
}

// add adds a cleanup, which runs before those added earlier.
func (c *cleanups) add(name string, do func() error) { *c = append(*c, cleanup{name, do}) }

// run runs every cleanup once, also after one that fails. It joins their errors, each
// with its name, and leaves none to be run again.
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
