// Package study reproduces the papers' figures: it prints the paper's number,
// ours with a confidence interval, and how the setting differs.
package study

import (
	"iter"
	"math"

	"github.com/varq-project/varq/predictor/cluster/sched"
	"github.com/varq-project/varq/predictor/workload"
)

// Study is one paper's experiment, cut into cases that may run anywhere and in
// any order.
type Study interface {
	// Cases lists what has to be simulated, always in the same order.
	Cases(Options) []Case
	// Run simulates one case. It is deterministic.
	Run(Options, Case) (Values, error)
	// Report puts the outcomes side by side with the paper's; a case that is
	// missing is left out of the means.
	Report(Options, []Outcome) Report
}

// Options shape every study.
type Options struct {
	Seeds  int    // independent repetitions; 0: the study's default
	Quick  bool   // the smallest workload that still shows the effect
	Traces Traces // the real logs; nil where a study needs none
}

// repetitions returns the number of seeds: what was asked for, or else the study's own
// default.
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

// atMost returns how many jobs of a log are simulated.
func (o Options) atMost(quick int) int {
	if o.Quick {
		return quick
	}
	return math.MaxInt
}

// Traces gives access to real logs.
type Traces interface {
	// Open returns the jobs of a log of the Parallel Workloads Archive, in the
	// order of submission, and how many processors its machine had. The name has
	// no version: "CTC-SP2-1996". The error says which file is missing.
	Open(name string) (jobs iter.Seq2[sched.Job, error], procs int32, err error)
	// Requests tells what a log's jobs ask their queues for, with the names of its
	// header.
	Requests(name string) (func(*sched.Job) workload.Request, error)
}

// Case is one simulation of a study.
type Case struct {
	Name string `json:"name"` // tells the settings, and so is unique with Seed
	Seed uint64 `json:"seed"`
}

// Values are what a simulation measured, by name. They are finite: what could not
// be measured is left out.
type Values map[string]float64

// Outcome is what became of a case.
type Outcome struct {
	Case
	Values Values `json:"values"`
}

// Report is what a study found.
type Report struct {
	Name        string   `json:"name"`  // of the study: "downey"
	Title       string   `json:"title"` // of the paper, with its year
	Tables      []Table  `json:"tables"`
	Differences []string `json:"differences"` // of our setting from the paper's, one sentence each
	Figures     []Figure `json:"figures,omitempty"`
}

// Table compares numbers of the paper with ours.
type Table struct {
	Title string `json:"title"`
	Rows  []Row  `json:"rows"`
}

// Row is one number.
type Row struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit,omitempty"`
	Paper *float64 `json:"paper,omitempty"` // nil where the paper gives none
	Ours  Interval `json:"ours"`
	Note  string   `json:"note,omitempty"` // what explains a difference
}

// Interval is a mean over seeds with its 95 % confidence interval (Student's t).
// With one seed there is none, and Low and High equal Mean.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"`
}

// Figure is a picture: bars or lines over the same X.
type Figure struct {
	Name   string   `json:"name"` // of its file, without ending
	Title  string   `json:"title"`
	X      string   `json:"x"` // what the axis shows, with its unit
	Y      string   `json:"y"`
	Labels []string `json:"labels,omitempty"` // of the bars; empty for lines
	Series []Series `json:"series"`
}

// Series is one line, or one colour of bars.
type Series struct {
	Name string    `json:"name"`
	X    []float64 `json:"x,omitempty"` // empty for bars
	Y    []float64 `json:"y"`
}
