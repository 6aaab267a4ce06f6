package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/slurm/slurmconf"
	"github.com/varq-project/varq/predictor/varqd/broker"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// thisCluster is the name of the host's own cluster where neither the configuration file nor
// slurm.conf names it.
const thisCluster = "local"

// here returns the name of the host's own cluster, as the job's VARQ_SITE has it: by the
// configuration file, else by slurm.conf.
func (l *link) here() (string, error) {
	var name string
	if l.endpoint == "" {
		var err error
		if name, err = config.FindOwnSite(l.env.Getenv); err != nil {
			return "", err
		}
	}
	if name == "" {
		name = slurmconf.OwnCluster(l.env.Getenv)
	}
	return cmp.Or(name, thisCluster), nil
}

// site is a cluster where a job may run, for package broker.
type site struct {
	config.Site
	own   bool // the cluster of this host, which sbatch submits to without being told
	named bool // by who asks, or by the configuration file
	varqd *client.Client
	job   []string // what the user has given to sbatch
	sizes bool     // the job's sizes are varq's, and not those of sbatch's options
	refer bool     // these sizes follow from sbatch's --time
	best  bool     // the work need not be held
	// asks are the probabilities that it is asked for, the best first. Of each slot the first
	// counts that it can promise.
	asks []float64

	described *sbatch.Description // the job as sbatch has read it
}

// openSites returns the sites that --clusters names: the host's own without it, and with "all"
// those of the configuration file.
func (l *link) openSites(clusters string) ([]*site, error) {
	own, err := config.FindClient(l.env.Getenv)
	if err != nil {
		return nil, err
	}
	known, err := config.FindSites(l.env.Getenv)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range known {
		names = append(names, known[i].Name)
	}
	if l.site != "" {
		if clusters != "" {
			return nil, errors.New("--site and --clusters exclude each other: --clusters says where the job may run")
		}
		clusters = l.site
	}
	chosen := strings.Split(clusters, ",")
	switch clusters {
	case "":
		i := slices.IndexFunc(known, func(s config.Site) bool { return s.Endpoint == own.Endpoint })
		if i < 0 || l.endpoint != "" {
			name, err := l.here()
			if err != nil {
				return nil, err
			}
			varqd, err := l.dial()
			return []*site{{Site: config.Site{Name: name}, own: true, varqd: varqd}}, err
		}
		chosen = names[i : i+1]
	case "all":
		chosen = names
	}
	var sites []*site
	for _, name := range chosen {
		i := slices.Index(names, name)
		if i < 0 {
			_, err := config.FindSite(l.env.Getenv, name) // which says what is missing
			return nil, fmt.Errorf("--clusters: %w", err)
		}
		if slices.ContainsFunc(sites, func(s *site) bool { return s.Name() == name }) {
			return nil, fmt.Errorf("--clusters: %s is there twice", name)
		}
		if conf := known[i].SlurmConf; conf != "" {
			of, err := slurmconf.ClusterName(conf)
			if err != nil {
				return nil, fmt.Errorf("site %s cannot be reached by sbatch (slurm_conf in %s): %w", name, config.Path(l.env.Getenv), err)
			}
			if of != "" && of != name {
				return nil, fmt.Errorf("site %s: by slurm_conf in %s jobs would go to another cluster: %s has ClusterName=%s", name, config.Path(l.env.Getenv), conf, of)
			}
		}
		varqd, err := l.varqdOf(&known[i])
		if err != nil {
			return nil, err
		}
		sites = append(sites, &site{Site: known[i], own: known[i].Endpoint == own.Endpoint, named: true, varqd: varqd})
	}
	if len(sites) == 0 {
		return nil, fmt.Errorf("--clusters=all: %s has no section sites", config.Path(l.env.Getenv))
	}
	return sites, nil
}

// varqdOf returns the client of the varqd that tells of a site: its own, or if it has none, that of
// this host's cluster.
func (l *link) varqdOf(s *config.Site) (*client.Client, error) {
	if s.HasNoVarqd() {
		own, err := config.FindClient(l.env.Getenv)
		if err != nil {
			return nil, err
		}
		return dial(own)
	}
	c, err := config.FindSite(l.env.Getenv, s.Name)
	if err != nil {
		return nil, err
	}
	return dial(c)
}

// Name implements broker.Site.
func (s *site) Name() string { return s.Site.Name }

// words returns what an error says, without the name of the site, beside which it is shown.
func (s *site) words(err error) string { return strings.TrimPrefix(err.Error(), "site "+s.Name()+": ") }

// Probe implements broker.Site.
func (s *site) Probe(ctx context.Context, r api.ProbeRequest) (api.ProbeAnswer, error) {
	if len(s.asks) == 0 {
		return s.varqd.Probe(ctx, r)
	}
	answers, errs := make([]api.ProbeAnswer, len(s.asks)), make([]error, len(s.asks))
	var wait sync.WaitGroup
	for i, prob := range s.asks {
		r := r
		r.Prob = prob
		wait.Go(func() { answers[i], errs[i] = s.varqd.Probe(ctx, r) })
	}
	wait.Wait()
	// of the least, which tells best why something is not to be had
	answer := answers[len(answers)-1]
	answer.Slots = nil
	for i := range answers {
		for _, slot := range answers[i].Slots {
			if !slices.ContainsFunc(answer.Slots, func(had api.Slot) bool {
				return had.Start == slot.Start && had.Nodes == slot.Nodes && had.Partition == slot.Partition
			}) {
				answer.Slots = append(answer.Slots, slot)
			}
		}
	}
	if len(answer.Slots) > 0 {
		return answer, nil
	}
	return answer, errs[len(errs)-1]
}

// Confirm implements broker.Site.
func (s *site) Confirm(ctx context.Context, c api.Confirmation) error { return s.varqd.Confirm(ctx, c) }

// Release implements broker.Site.
func (s *site) Release(ctx context.Context, plan string) error {
	return s.varqd.Cancel(ctx, api.Cancellation{Plan: plan})
}

// Submit implements broker.Site.
func (s *site) Submit(ctx context.Context, slot *api.Slot, tentative int64) (sbatch.Submission, error) {
	return s.SubmitMember(ctx, slot, tentative, sbatch.Member{})
}

// SubmitMember implements broker.GroupSite.
func (s *site) SubmitMember(ctx context.Context, slot *api.Slot, tentative int64, of sbatch.Member) (sbatch.Submission, error) {
	options := []string{"--begin-by=uts" + strconv.FormatInt(slot.Start, 10), "--prob=" + strconv.FormatFloat(slot.Prob, 'g', -1, 64)}
	if s.best {
		options = append(options, "--best-effort")
	}
	if s.sizes {
		options = append(options, "--sizes="+elastic.Size{Nodes: slot.Nodes, Seconds: slot.Limit}.String())
	}
	order := sbatch.Order{Site: s.order(), Partition: slot.Partition, Reference: s.refer, Tentative: tentative, Member: of}
	if !s.sizes {
		order.Limit = slot.Limit
	}
	return s.sbatch(options).Submit(ctx, order)
}

// Cancel implements broker.Site.
func (s *site) Cancel(ctx context.Context, plan *api.Plan, job int64) (started bool, err error) {
	return s.sbatch(nil).Cancel(ctx, plan, job)
}

// describe returns the job's request as sbatch reads it, with options of varq's.
func (s *site) describe(ctx context.Context, options []string) (*sbatch.Description, error) {
	return s.sbatch(options).Describe(ctx, sbatch.Order{Site: s.order(), Reference: s.refer})
}

// order returns how an order names the site.
func (s *site) order() string {
	if !s.named {
		return ""
	}
	return s.Site.Name
}

// sacct runs the site's sacct with args; see Env.Sacct.
func (s *site) sacct(ctx context.Context, env *Env, args ...string) ([]byte, error) {
	path, variables := "sacct", []string(nil)
	if s.Bin != "" {
		path = filepath.Join(s.Bin, "sacct")
	}
	switch {
	case s.SlurmConf != "":
		variables = []string{"SLURM_CONF=" + s.SlurmConf}
	case !s.own:
		args = append(args, "--clusters="+s.Site.Name)
	}
	return env.Sacct(ctx, path, variables, args...)
}

// sbatch returns the site's sbatch, with options of varq's.
func (s *site) sbatch(options []string) *sbatch.Program {
	p := &sbatch.Program{Path: cmp.Or(s.job[0], "sbatch"), Env: os.Environ(), Own: options, Args: s.job[1:]}
	if s.Bin != "" {
		p.Path = filepath.Join(s.Bin, "sbatch")
	}
	switch {
	case s.SlurmConf != "":
		p.Env = append(p.Env, "SLURM_CONF="+s.SlurmConf)
	case !s.own:
		p.Cluster = s.Site.Name
	}
	return p
}

var _ broker.GroupSite = (*site)(nil)
