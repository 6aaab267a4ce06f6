package qbets

import (
	"fmt"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/workload"
)

// Class is a set of requests that are served alike, or are taken to be. A field
// left at its zero value does not restrict the class, so Class{} holds every
// request.
type Class struct {
	Partition string
	QOS       string
	Unit      Unit  // what Size counts
	Size      Range // how much of Unit is asked for
	Limit     Range // requested wall time, seconds
}

// Range is the numbers above Above up to and including Through. Through 0 means
// without end, so the zero Range is every number above 0.
type Range struct{ Above, Through int64 }

// Unit is the resource that a job's size is counted in.
type Unit uint8

// The units a size can have. A job's own is the one that makes it hard to
// place: GPUs if it asks for any, else nodes if it asks for several, else CPUs,
// which tell jobs on one shared node apart.
const (
	AnyUnit Unit = iota
	CPUs
	Nodes
	GPUs
)

// Classifier tells which classes a request belongs to.
type Classifier interface {
	// Classes appends to dst the classes of r and returns the result: at least
	// one, the finest first, each a part of the next and none twice. The last is
	// the same for all requests. The rest of r being equal, the same finest class
	// comes with the same others.
	Classes(dst []Class, r *workload.Request) []Class
}

// String names the class as sites would: "partition=batch nodes=3-4
// limit=1h-2h", or "all jobs".
func (c Class) String() string {
	var parts []string
	if c.Partition != "" {
		parts = append(parts, "partition="+c.Partition)
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

// duration writes whole hours and minutes as "2h" and "30m".
func duration(seconds int64) string {
	switch {
	case seconds%3600 == 0:
		return fmt.Sprintf("%dh", seconds/3600)
	case seconds%60 == 0:
		return fmt.Sprintf("%dm", seconds/60)
	}
	return (time.Duration(seconds) * time.Second).String()
}
