package reserve

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// minPatience bounds --patience, in seconds: a cluster at work takes a few.
const minPatience = 5

// request returns what the options ask for, as far as the job need not be known.
func (f *flags) request(env *cli.Env) (*request, error) {
	r := &request{}
	r.DryRun, r.Now = f.dryRun, func() time.Time { return time.Unix(env.Now(), 0) }
	p := &r.Probe
	var err error
	if p.Earliest, err = env.Time("--earliest", f.Earliest); err != nil {
		return nil, err
	}
	if p.Latest, err = env.Deadline("--latest", f.Latest); err != nil {
		return nil, err
	}
	if p.FinishBy, err = env.Deadline("--finish-by", f.FinishBy); err != nil {
		return nil, err
	}
	if r.Prefer, err = elastic.ParsePreferences(f.Prefer); err != nil {
		return nil, fmt.Errorf("--prefer: %w", err)
	}
	if f.MinProb != "" {
		if p.Prob, err = prob.Parse(f.MinProb); err != nil {
			return nil, fmt.Errorf("--min-prob: %w", err)
		}
	}
	if p.Gap, err = slurmtime.ParseSpan(f.Gap); err != nil {
		return nil, fmt.Errorf("--gap: %w", err)
	}
	if r.Patience, err = slurmtime.ParseSpan(f.Patience); err != nil {
		return nil, fmt.Errorf("--patience: %w", err)
	}
	if f.Partitions != "" {
		if p.Partitions, r.Apart, err = splitPartitions(f.Partitions); err != nil {
			return nil, err
		}
	}
	p.Slots, p.BestEffort, p.Power, p.ESR = f.Slots, f.BestEffort, f.Power, f.esr
	now := env.Now()
	switch {
	case r.Patience < minPatience || r.Patience > api.MaxTentative:
		return nil, fmt.Errorf("--patience: %s is not between %s and %s", slurmtime.FormatDuration(r.Patience), slurmtime.FormatDuration(minPatience), slurmtime.FormatDuration(api.MaxTentative))
	case f.esr && (!f.dryRun || f.AnyOf || f.AllOf):
		return nil, errors.New("--esr needs --dry-run, of a job that runs once: it compares slots, and nothing is reserved by it")
	}
	if err := p.CheckSearch(); err != nil {
		return nil, api.ByOption(err, env.Moment)
	}
	for i, partition := range p.Partitions {
		if partition == "" || slices.Contains(p.Partitions[:i], partition) {
			return nil, fmt.Errorf("--partitions: %q is there twice, or no name", partition)
		}
	}
	if err := f.readGroup(r, now); err != nil {
		return nil, err
	}
	return r, f.readSizes(r)
}

// splitPartitions returns the partitions of --partitions, and whether they are alternatives that
// have a job each.
func splitPartitions(text string) (partitions []string, apart bool, err error) {
	if !strings.Contains(text, alternatives) {
		return strings.Split(text, ","), false, nil
	}
	if strings.Contains(text, ",") {
		return nil, false, errors.New("--partitions: with , between them the best one is taken, and with / there is a job in each, of which one runs; give either")
	}
	return strings.Split(text, alternatives), true, nil
}

// readSizes reads the options about sizes.
func (f *flags) readSizes(r *request) (err error) {
	switch {
	case f.Sizes != "" && f.Nodes != "":
		return errors.New("--sizes does not go together with --nodes: sizes have their nodes")
	case f.Nodes == "" && (f.RefNodes != 0 || f.Speedup != ""):
		return errors.New("--ref-nodes and --speedup need --nodes: the numbers of nodes among which to choose")
	case f.RefNodes < 0:
		return fmt.Errorf("--ref-nodes: %d is not a number of nodes", f.RefNodes)
	case f.Nodes != "" && (f.RefNodes == 0 || f.Speedup == ""):
		return errors.New("--nodes needs --ref-nodes and --speedup: they say how long the work takes on each")
	case f.Sizes != "":
		_, err = elastic.ParseSizes(f.Sizes)
		if err != nil {
			return fmt.Errorf("--sizes: %w", err)
		}
	case f.Nodes != "":
		if r.nodes, err = elastic.ParseNodes(f.Nodes); err != nil {
			return fmt.Errorf("--nodes: %w", err)
		}
		if r.curve, err = options.ParseSpeedup(f.Speedup); err != nil {
			return err
		}
	}
	return nil
}
