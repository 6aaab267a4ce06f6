package qbets

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// Class is a set of requests that are taken to be served alike. A field with its zero value
// does not restrict the class.
type Class struct {
	Partition string
	Account   string
	User      string
	QOS       string
	Unit      Unit  // the unit of Size
	Size      Range // how many of Unit are asked for
	Limit     Range // requested wall time, seconds
}

// Range is the numbers greater than Above, up to and including Through. If Through is 0,
// the range has no end. So the zero Range has every number above 0.
type Range struct{ Above, Through int64 }

// contains reports whether n, which is above 0, is in the range.
func (r Range) contains(n int64) bool { return n > r.Above && n <= r.last() }

// last returns the greatest number in the range.
func (r Range) last() int64 {
	if r.Through == 0 {
		return math.MaxInt64
	}
	return r.Through
}

// joined returns the range of all numbers in r and s, or r if there is a gap between
// them.
func (r Range) joined(s Range) Range {
	switch {
	case r.last() == s.Above:
		return Range{r.Above, s.Through}
	case s.last() == r.Above:
		return Range{s.Above, r.Through}
	}
	return r
}

// Unit is the resource that a job's size is counted in.
type Unit uint8

// The units of a size. A job's unit is the resource that makes the job hard to place: GPUs
// if it asks for any, else nodes if it asks for several, else CPUs.
const (
	AnyUnit Unit = iota
	CPUs
	Nodes
	GPUs
)

// atLeast reports whether the longest and largest jobs of c, in the same partition, ask for
// at least as much as any of d: as long a limit, and as many of the same unit. Several nodes
// are more than CPUs of one node. Since the waits of a class are taken to be alike, all of
// them count as those of its longest and largest jobs.
func (c Class) atLeast(d Class) bool {
	return c.asLarge(d) && c.Limit.last() >= d.Limit.last()
}

// justShorter reports whether the requests of c are as large as those of d and
// their limits end where those of d begin.
func (c Class) justShorter(d Class) bool {
	return c.asLarge(d) && c.Limit.Through == d.Limit.Above && d.Limit.Above > 0
}

// asLarge is atLeast by size alone.
func (c Class) asLarge(d Class) bool {
	return c.Unit == d.Unit && c.Size.last() >= d.Size.last() || c.Unit == Nodes && d.Unit == CPUs
}

// compare orders the classes of a partition by limit, by size within a limit,
// and then by QOS.
func (c Class) compare(d Class) int {
	return cmp.Or(
		cmp.Compare(c.Limit.Above, d.Limit.Above),
		cmp.Compare(c.Unit, d.Unit),
		cmp.Compare(c.Size.Above, d.Size.Above),
		cmp.Compare(c.QOS, d.QOS),
	)
}

// widened returns the class that includes c and d, where d is atLeast c or justShorter. It
// drops each limit of c that excludes a part of d.
func (c Class) widened(d Class) Class {
	if d.QOS != c.QOS {
		c.QOS = ""
	}
	if d.Unit != c.Unit || d.Size != c.Size {
		c.Size.Through = 0
		if d.Unit == c.Unit {
			c.Size.Above = min(c.Size.Above, d.Size.Above)
		}
	}
	c.Limit.Above = min(c.Limit.Above, d.Limit.Above)
	if d.Limit.last() > c.Limit.last() {
		c.Limit.Through = 0
	}
	return c
}

// joined returns the class of exactly the requests of c and d. It reports false if there is
// none. There is one if c and d differ only in one range, and the range of one ends where
// that of the other begins.
func (c Class) joined(d Class) (Class, bool) {
	both := c
	switch {
	case c.Size == d.Size:
		both.Limit = c.Limit.joined(d.Limit)
		d.Limit = both.Limit
	case c.Limit == d.Limit:
		both.Size = c.Size.joined(d.Size)
		d.Size = both.Size
	}
	return both, both == d && both != c
}

// String returns a name like "partition=batch nodes=3-4 limit=1h-2h", or "all jobs".
func (c Class) String() string {
	var parts []string
	if c.Partition != "" {
		parts = append(parts, "partition="+c.Partition)
	}
	if c.Account != "" {
		parts = append(parts, "account="+c.Account)
	}
	if c.User != "" {
		parts = append(parts, "user="+c.User)
	}
	if c.QOS != "" {
		parts = append(parts, "qos="+c.QOS)
	}
	if c.Unit != AnyUnit {
		parts = append(parts, fmt.Sprintf("%v=%v", c.Unit, c.Size))
	}
	if c.Limit != (Range{}) {
		low, high := duration(c.Limit.Above), duration(c.Limit.Through)
		switch {
		case c.Limit.Through == 0:
			parts = append(parts, "limit>"+low)
		case c.Limit.Above == 0:
			parts = append(parts, "limit<="+high)
		default:
			parts = append(parts, "limit="+low+"-"+high)
		}
	}
	if parts == nil {
		return "all jobs"
	}
	return strings.Join(parts, " ")
}

// String returns the range's ends: "5-8", "4" or "1025+".
func (r Range) String() string {
	switch r.Through {
	case 0:
		return fmt.Sprintf("%d+", r.Above+1)
	case r.Above + 1:
		return fmt.Sprint(r.Through)
	}
	return fmt.Sprintf("%d-%d", r.Above+1, r.Through)
}

// String returns the unit's name in lower case.
func (u Unit) String() string {
	switch u {
	case CPUs:
		return "cpus"
	case Nodes:
		return "nodes"
	case GPUs:
		return "gpus"
	}
	return "any"
}

// duration writes a number of seconds, whole minutes like "2h30m".
func duration(seconds int64) string {
	if seconds%minute == 0 {
		return span(seconds)
	}
	return (time.Duration(seconds) * time.Second).String()
}
