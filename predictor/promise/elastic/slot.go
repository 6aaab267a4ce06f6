package elastic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Slot is where and when a job could run (a reservation candidate of the paper). Times are Unix
// seconds.
type Slot struct {
	Site, Partition string
	Start, End      int64
	Nodes           int32
	Limit           int64   // time limit for the work in seconds, at most End-Start
	Cost            float64 // in the site's units
	Prob            float64 // that the job can start at Start
}

// maxName is the longest name of a site or partition, in bytes.
const maxName = 256

// Check says what is wrong with a slot that somebody else has made up.
func (s *Slot) Check() error {
	if err := checkName("site", s.Site); err != nil {
		return err
	}
	if s.Partition != "" {
		if err := checkName("partition", s.Partition); err != nil {
			return err
		}
	}
	const year9999 = 253402300800
	switch {
	case s.Start < 1 || s.End > year9999:
		return fmt.Errorf("%d to %d is not a time", s.Start, s.End)
	case s.End <= s.Start:
		return fmt.Errorf("it ends at %d, and begins at %d", s.End, s.Start)
	case s.Nodes < 1 || s.Nodes > maxNodes:
		return fmt.Errorf("%d is not a number of nodes from 1 to %d", s.Nodes, maxNodes)
	case s.Limit < 1 || s.Limit > s.End-s.Start:
		return fmt.Errorf("a time limit of %d s is not one from 1 to %d s", s.Limit, s.End-s.Start)
	case !(s.Cost >= 0) || math.IsInf(s.Cost, 0):
		return fmt.Errorf("%v is not a cost", s.Cost)
	case !(s.Prob >= 0 && s.Prob <= 1):
		return fmt.Errorf("%v is not a probability", s.Prob)
	}
	return nil
}

func checkName(what, name string) error {
	if name == "" {
		return errors.New("it has no " + what)
	}
	if len(name) > maxName {
		return fmt.Errorf("its %s %.20q... is too long", what, name)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return fmt.Errorf("its %s %.40q cannot be shown", what, name)
	}
	return nil
}

// compare orders slots that no preference tells apart, so that the same answers always give the
// same order.
func (s *Slot) compare(o *Slot) int {
	return cmp.Or(
		cmp.Compare(s.Site, o.Site), cmp.Compare(s.Partition, o.Partition),
		cmp.Compare(s.Start, o.Start), cmp.Compare(s.Nodes, o.Nodes),
		cmp.Compare(s.End, o.End), cmp.Compare(s.Limit, o.Limit),
		cmp.Compare(s.Cost, o.Cost), cmp.Compare(s.Prob, o.Prob))
}
