// Package study repeats the experiments of papers in simulation. A Study is a list of
// independent cases, each a simulation with one setting and one seed. From their
// outcomes it makes a Report, which puts each number of the paper beside ours, with a
// confidence interval over the seeds, and lists how our setting differs from the
// paper's. A Report is data; package plot draws its figures.
package study

import (
	"iter"
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Study is the experiment of one paper. Its cases may run anywhere and in any order.
type Study interface {
	// Cases returns the cases, always in the same order.
	Cases(Options) []Case
	// Run simulates one case. Equal arguments give equal values.
	Run(Options, Case) (Values, error)
	// Report compares the outcomes with the paper. Cases may be missing; then the
	// means are over the others.
	Report(Options, []Outcome) Report
}

// Options are common to all studies.
type Options struct {
	Seeds  int    // number of repetitions, each with a seed of its own; 0: the study's default
	Quick  bool   // simulate only the beginning of each workload, with few seeds
	Traces Traces // real logs; nil if there are none
}

// repetitions returns the number of seeds: Seeds, or else one of the study's defaults.
func (o Options) repetitions(usual, quick int) int {
	switch {
	case o.Seeds > 0:
		return o.Seeds
	case o.Quick:
		return quick
	default:
		return usual
	}
}

// atMost returns how many jobs of a log are simulated at most.
func (o Options) atMost(quick int) int {
	if o.Quick {
		return quick
	}
	return math.MaxInt
}

// Traces gives access to real logs.
type Traces interface {
	// Open returns the jobs of a log of the Parallel Workloads Archive in the order of
	// their submission, and the number of processors of its machine. name has no
	// version: "CTC-SP2-1996". The error names the file that is missing.
	Open(name string) (jobs iter.Seq2[sched.Job, error], procs int32, err error)
	// Requests returns a function from a job of the log to what it asks for, with the
	// names of partitions that the log's header has.
	Requests(name string) (func(*sched.Job) workload.Request, error)
}

// Case is one simulation of a study.
type Case struct {
	Name string `json:"name"` // of the setting; Name and Seed together are unique
	Seed uint64 `json:"seed"`
}

// Values are what a simulation found, by name. Invariant: they are finite. What could
// not be measured is left out.
type Values map[string]float64

// Outcome is a case with what it found.
type Outcome struct {
	Case
	Values Values `json:"values"`
}

// Report compares the outcomes of a study with a paper.
type Report struct {
	Name        string   `json:"name"`  // of the study: "downey"
	Title       string   `json:"title"` // of the paper, with its year
	Tables      []Table  `json:"tables"`
	Differences []string `json:"differences"` // between our setting and the paper's, in sentences
	Figures     []Figure `json:"figures,omitempty"`
}

// Table compares numbers of the paper with ours.
type Table struct {
	Title string `json:"title"`
	Rows  []Row  `json:"rows"`
}

// Row compares one number.
type Row struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit,omitempty"`
	Paper *float64 `json:"paper,omitempty"` // nil where the paper gives none
	Ours  Interval `json:"ours"`
	Note  string   `json:"note,omitempty"` // what explains a difference
}

// Interval is the mean over some seeds, with its 95 % confidence interval (Student's t).
// With one seed there is no interval, and Low and High equal Mean. Without any, all
// fields are 0.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"` // number of seeds
}

// Figure is what a picture shows: groups of bars, or lines.
type Figure struct {
	Name   string   `json:"name"` // of its file, without ending
	Title  string   `json:"title"`
	X      string   `json:"x"` // label of the axis, with its unit
	Y      string   `json:"y"`
	Labels []string `json:"labels,omitempty"` // of the groups of bars; empty for lines
	Series []Series `json:"series"`
}

// Series is one line, or one colour of bars.
type Series struct {
	Name string    `json:"name"`
	X    []float64 `json:"x,omitempty"` // empty for bars
	Y    []float64 `json:"y"`
}
