package reserve

import (
	"context"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/sites"
)

// siteState is a line of the command sites.
type siteState struct {
	Site     string      `json:"site"`
	Endpoint string      `json:"endpoint"`
	Health   *api.Health `json:"health,omitempty"`
	// Calibration is that of the forecasts on which promises rest, over the last month.
	Calibration *api.CalibrationRow `json:"calibration,omitempty"`
	// Bare is how a cluster without varqd is, as this one's varqd sees it.
	Bare  *api.SiteState `json:"bare,omitempty"`
	Error string         `json:"error,omitempty"`
	// Refused is true if it answers, and refuses.
	Refused bool `json:"refused,omitempty"`
}

// NewSites returns the command sites.
func NewSites(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sites [options]",
		Short: "List the clusters among which varq reserve chooses",
		Long: `Sites lists the clusters that the configuration file names (sites), and asks the varqd of
each how it is, and how far its forecasts are to be believed: of the waits of the last
30 days, how many were at most as long as its .5 and .95 quantiles, which should
be that many. Of a cluster without varqd this one's says whether its slurmrestd
answers, since when, and by which method it estimates.`,
		Example: `  varq sites
  varq sites -M alpha,beta --json`,
		Args: cli.NoArguments,
	}
	clusters := cmd.Flags().StringP("clusters", "M", "", "these `clusters` (default all of them)")
	style := options.AddStyle(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		columns, err := options.Choose(siteColumns(env), style.Format)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		names := *clusters
		if known, err := knownSites(env); err != nil {
			return err
		} else if names == "" && known > 0 {
			names = "all"
		}
		all, err := link.Sites(names)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		states := make([]siteState, len(all))
		var wait sync.WaitGroup
		for i, s := range all {
			wait.Go(func() { states[i] = stateOf(cmd.Context(), s, env.Now()) })
		}
		wait.Wait()
		if style.JSON {
			return cli.WriteJSON(env.Stdout, states)
		}
		return options.Show(env, columns, states, style, false)
	}
	return cmd
}

// knownSites returns how many sites the configuration file names.
func knownSites(env *cli.Env) (int, error) {
	known, err := config.FindSites(env.Getenv)
	return len(known), err
}

// stateOf asks a site how it is.
func stateOf(ctx context.Context, s *sites.Site, now int64) siteState {
	if s.HasNoVarqd() {
		return bareState(ctx, s)
	}
	state := siteState{Site: s.Name(), Endpoint: s.Endpoint}
	health, err := s.Varqd.Health(ctx)
	if err != nil {
		state.Error, state.Refused = s.Words(err), api.Refused(err)
		return state
	}
	state.Health = &health
	if health.Version == "" {
		state.Error = "what it answers is not how a varqd is: is the endpoint that of a varqd?"
		return state
	}
	calibration, err := s.Varqd.Calibration(ctx, api.CalibrationQuery{Start: now - options.CalibrationTime, Forecaster: told.Believed})
	if err != nil {
		state.Error = s.Words(err)
		return state
	}
	if len(calibration.Rows) > 0 {
		state.Calibration = &calibration.Rows[0]
	}
	return state
}

// bareState asks this host's varqd how a site without one is.
func bareState(ctx context.Context, s *sites.Site) siteState {
	state := siteState{Site: s.Name(), Endpoint: s.Slurmrestd.URL}
	list, err := s.Varqd.Sites(ctx)
	if err != nil {
		state.Error = err.Error()
		return state
	}
	i := slices.IndexFunc(list, func(l api.SiteState) bool { return l.Site == s.Name() })
	if i < 0 {
		state.Error = "it has no varqd, and that of this cluster does not know it: its varq.yaml must have it, with slurmrestd"
		return state
	}
	state.Bare, state.Error = &list[i], list[i].Error
	return state
}

func siteColumns(env *cli.Env) []table.Column[siteState] {
	covered := func(quantile float64) func(siteState) string {
		return func(s siteState) string {
			if s.Calibration != nil {
				for _, q := range s.Calibration.Quantiles {
					if q.Quantile == quantile {
						return cli.Share(q.Covered)
					}
				}
			}
			return cli.None
		}
	}
	return []table.Column[siteState]{
		table.Text("Cluster", func(s siteState) string { return s.Site }),
		table.Text("State", siteState.word),
		table.Number("Jobs", func(s siteState) string {
			if s.Health == nil {
				return cli.None
			}
			return cli.Thousands(s.Health.History)
		}),
		table.Number("Forecasts", func(s siteState) string {
			if s.Calibration == nil {
				return cli.None
			}
			return cli.Thousands(s.Calibration.Forecasts)
		}),
		table.Number(".5", covered(.5)),
		table.Number(".95", covered(.95)),
		table.Text("Version", func(s siteState) string {
			if s.Health == nil {
				return cli.None
			}
			return cli.Printable(s.Health.Version)
		}),
		table.Text("Note", func(s siteState) string {
			switch {
			case s.Bare != nil:
				return cli.Printable(bareNote(env, s.Bare))
			case s.Error != "":
				return cli.Printable(s.Error)
			case s.Health != nil && len(s.Health.Problems) > 0:
				return cli.Printable(s.Health.Problems[0])
			case s.Health != nil && len(s.Health.Certificate) > 0:
				return cli.Printable(s.Health.Certificate[0])
			}
			return cli.None
		}),
	}
}

// bareNote tells how a site without varqd is.
func bareNote(env *cli.Env, s *api.SiteState) string {
	note := "no varqd; estimates by " + s.Method
	switch {
	case s.Since == 0:
		return note + "; its slurmrestd was not asked yet"
	case s.OK:
		return note + "; its slurmrestd answers since " + env.Moment(s.Since)
	}
	return note + "; its slurmrestd does not answer as it should since " + env.Moment(s.Since) + ": " + s.Error
}

// word is the state in a word.
func (s siteState) word() string {
	switch {
	case s.Bare != nil && s.Bare.OK:
		return "OK"
	case s.Bare != nil && s.Bare.Since == 0:
		return "UNKNOWN"
	case s.Refused:
		return "REFUSED"
	case s.Health == nil:
		return "UNREACHABLE"
	case !s.Health.OK:
		return "TROUBLE"
	}
	return "OK"
}
