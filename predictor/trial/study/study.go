// Package study repeats the experiments of papers in simulation. A Study has independent cases;
// each case has one setting and one seed. The Study makes a Report from the outcomes of the cases.
// The Report compares each number of the paper with ours, gives a confidence interval over the
// seeds, and lists how our setting differs from the paper's. A Report is data; package plot draws
// its figures.
//
// Each paper has a folder below this one. The folder has the paper's studies, and the simulator
// that only these use. This package has what the studies of several papers share.
package study

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Study is the experiment of one paper. Its cases may run anywhere and in any order.
type Study interface {
	// Cases returns the cases, always in the same order.
	Cases(Options) []Case
	// Run simulates one case. Equal arguments give equal values.
	Run(Options, Case) (Values, error)
	// Report compares the outcomes with the paper. If outcomes are missing, the means
	// are over the others.
	Report(Options, []Outcome) Report
}

// Options are common to all studies.
type Options struct {
	Seeds  int    // number of repetitions, each with a seed of its own; 0: the study's default
	Quick  bool   // simulate only the beginning of each workload, with few seeds
	Traces Traces // real logs; nil if there are none
	// Failures are those of a site's own nodes, in place of Los Alamos'; nil: there are none.
	Failures *NodeFailures
	// Background is predictor.Options.Background.
	Background func(task func())
}

// Repetitions returns the number of seeds: Seeds if it is set, or the study's default, usual
// or quick.
func (o Options) Repetitions(usual, quick int) int {
	switch {
	case o.Seeds > 0:
		return o.Seeds
	case o.Quick:
		return quick
	default:
		return usual
	}
}

// AtMost returns the largest number of jobs of a log to simulate.
func (o Options) AtMost(quick int) int {
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
	// Requests returns a function that returns the request of a job of the log, with
	// the names of partitions from the log's header.
	Requests(name string) (func(*sched.Job) workload.Request, error)
	// Ran returns the jobs of a log of the Parallel Workloads Archive as they waited and ran.
	Ran(name string) (iter.Seq2[workload.Job, error], error)
	// Failures returns the nodes of a system of Los Alamos, such as "20", and their failures
	// by Down. The error names the file that is missing.
	Failures(system string) (nodes []string, log []workload.Failure, err error)
}

// ErrNoTraces is the error of a case that needs a real log while Options.Traces is nil.
var ErrNoTraces = errors.New("this study replays real logs")

// NodeFailures are those of the nodes of one system.
type NodeFailures struct {
	Nodes    []string
	Failures []workload.Failure // by Down
}

// Case is one simulation of a study.
type Case struct {
	Name string `json:"name"` // of the setting; Name and Seed together are unique
	Seed uint64 `json:"seed"`
}

// Cross returns a case of each setting for each seed from 1 to seeds, seed by seed.
func Cross[S any](seeds int, settings []S, name func(S) string) []Case {
	cases := make([]Case, 0, seeds*len(settings))
	for seed := range seeds {
		for _, s := range settings {
			cases = append(cases, Case{Name: name(s), Seed: uint64(seed) + 1})
		}
	}
	return cases
}

// Setting returns the setting that has the name of a case of a study. Without one it is an error.
func Setting[S any](study string, c Case, settings []S, name func(S) string) (S, error) {
	i := slices.IndexFunc(settings, func(s S) bool { return name(s) == c.Name })
	if i < 0 {
		var none S
		return none, fmt.Errorf("%s has no case %q", study, c.Name)
	}
	return settings[i], nil
}

// Values has the results of a simulation by name. Invariant: all values are finite. A
// result that could not be measured is missing.
type Values map[string]float64

// Measured removes the values that are NaN, and returns the others.
func Measured(v Values) Values {
	maps.DeleteFunc(v, func(_ string, x float64) bool { return math.IsNaN(x) })
	return v
}

// Outcome is a case with its values.
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
	Paper *float64 `json:"paper,omitempty"` // nil if the paper gives no number
	Ours  Interval `json:"ours"`
	Note  string   `json:"note,omitempty"` // explains a difference
}

// Interval is the mean over the seeds, with its 95 % confidence interval (Student's t), of
// which for a share only the part from 0 to the whole is given. With
// one seed there is no interval, and Low and High equal Mean. Without a seed all fields are
// 0.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"` // number of seeds, or of the blocks that were resampled
}

// Figure is the data of a picture: groups of bars, or lines.
type Figure struct {
	Name   string   `json:"name"` // of its file, without ending
	Title  string   `json:"title"`
	X      string   `json:"x"` // label of the axis, with its unit
	Y      string   `json:"y"`
	Labels []string `json:"labels,omitempty"` // of the groups of bars; empty for lines
	Series []Series `json:"series"`
	// Near is true of lines whose vertical axis spans their values alone, and does not begin at 0.
	Near bool `json:"near,omitempty"`
}

// Series is one line, or one colour of bars.
type Series struct {
	Name string    `json:"name"`
	X    []float64 `json:"x,omitempty"` // empty for bars
	Y    []float64 `json:"y"`
}
