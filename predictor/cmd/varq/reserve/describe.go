package reserve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
	"github.com/varq-project/varq/predictor/varqd/sites"
)

// sbatchFailed is the error of a job that sbatch does not read, for another reason than its
// options.
type sbatchFailed struct{ error }

func (f *sbatchFailed) Unwrap() error { return f.error }

// notRead returns the error of a job that sbatch has not read.
func notRead(err error) error {
	if strings.Contains(err.Error(), "Batch script is empty") {
		return fmt.Errorf("%w (varq reserve runs sbatch several times: give it the script as a file, or --wrap)", err)
	}
	if _, wrong := errors.AsType[*sbatch.Misuse](err); wrong {
		return err
	}
	return &sbatchFailed{err}
}

// describe has the sbatch of a site read what the job needs, and completes the job and the request
// with it. An error that is no *sbatchFailed is one of the command line.
func (f *flags) describe(ctx context.Context, at *sites.Site, job *sites.Job, r *request) error {
	p := &r.Probe
	by := max(p.Latest, p.FinishBy)
	own := []string{"--begin-by=uts" + strconv.FormatInt(by, 10)}
	sizes := f.Sizes
	if r.nodes != nil {
		// The job's own time is needed for the sizes.
		rigid, err := job.Describe(ctx, at, own...)
		if err != nil {
			return notRead(err)
		}
		if rigid.Job.Limit == 0 {
			return errors.New("nobody knows how long the work takes: give sbatch its --time on --ref-nodes")
		}
		all, err := elastic.Reference{Size: elastic.Size{Nodes: f.RefNodes, Seconds: rigid.Job.Limit}, Curve: r.curve}.Sizes(r.nodes)
		if err != nil {
			return err
		}
		sizes = elastic.FormatSizes(all)
	}
	if sizes != "" {
		own = append(own, "--sizes="+sizes)
	}
	read, err := job.Describe(ctx, at, own...)
	if err != nil {
		return notRead(err)
	}
	script := scriptOf(f.Command, read.Arguments)
	if heterogeneous(f.Command, read.Arguments, script) {
		return errors.New("the job is heterogeneous, and a reservation is of one job: submit its components apart, or without varq")
	}
	notes, err := f.giveWay(read.Arguments, script)
	if err != nil {
		return err
	}
	sized, err := givenSizes(sizes)
	if err != nil {
		return err
	}
	if read.BeginBy != by || !f.explains(read, sized) {
		return errors.New("leave varq's options (--begin-by, --prob, --sizes and others) to varq reserve; give them before --")
	}
	job.Description, job.Sized = read, sizes != ""
	p.Job, p.Needs, p.MaxCost, p.Sizes = read.Job, read.Needs, read.MaxCost, read.Sizes
	r.notes = slices.Concat(notes, read.Notes)
	switch of := read.Job.Partition; {
	case len(p.Partitions) > 0 && of != "" && !slices.Equal(p.Partitions, []string{of}):
		r.notes = append(r.notes, fmt.Sprintf("instead of --partition=%s of sbatch's: --partitions of varq reserve", of))
	case len(p.Partitions) == 0 && strings.Contains(of, ","):
		return fmt.Errorf("--partition=%s are several: give varq reserve --partitions=%[1]s, before --", of)
	}
	if len(p.Sizes) == 0 {
		if read.Job.Limit == 0 {
			return errors.New("nobody knows how long the work takes: give sbatch its --time, or use --sizes")
		}
		p.Sizes = []api.Size{{Size: read.Job.Size, Limit: read.Job.Limit}}
	}
	return nil
}

// explains reports whether the job as sbatch has read it has no other promise than the one that
// reserve is asked for.
func (f *flags) explains(read *sbatch.Description, sized []elastic.Size) bool {
	same := func(a api.Size, s elastic.Size) bool { return a.Nodes == s.Nodes && a.Limit == s.Seconds }
	return (read.Prob == 0 || f.MinProb != "") && (!read.BestEffort || f.bestEffort()) && slices.EqualFunc(read.Sizes, sized, same)
}

// givenSizes returns the sizes that sbatch is to be given; none for "".
func givenSizes(text string) ([]elastic.Size, error) {
	if text == "" {
		return nil, nil
	}
	return elastic.ParseSizes(text)
}
