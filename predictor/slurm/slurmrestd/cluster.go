package slurmrestd

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/slurm"
)

// Cluster returns the limits of the configuration and of the accounting database. The API
// leaves out some of these, which package scontrol fills in:
//   - all versions: PriorityFlags (limits.Cluster.MaxTRES) and the usage of GrpTRESMins
//   - v0.0.38 to v0.0.41: GrpTRESMins of a QOS
//   - v0.0.38: which cores a reservation has; without scontrol it counts as having its nodes whole
//   - from v0.0.39 on: the default partition
//   - v0.0.39: whether a partition is up
func (c *Client) Cluster(ctx context.Context) (limits.Cluster, error) {
	cluster, err := c.Layout(ctx)
	if err != nil {
		return cluster, err
	}
	cluster.QOS = make(map[string]limits.QOS)
	if err := c.readParts(ctx, []part{
		{database, "/qos", "qos", each(func(q *qos) error {
			cluster.QOS[q.Name] = q.limits()
			return nil
		})},
		{database, "/associations", "associations", each(func(a *association) error {
			cluster.Associations = append(cluster.Associations, a.limits())
			return nil
		})},
	}); err != nil {
		return cluster, err
	}
	// Accounting has the association of root and the QOS normal.
	switch {
	case len(cluster.QOS) == 0:
		return cluster, emptyError("/qos")
	case len(cluster.Associations) == 0:
		return cluster, emptyError("/associations")
	}
	slices.SortFunc(cluster.Associations, func(a, b limits.Association) int {
		return cmp.Or(strings.Compare(a.Account, b.Account), strings.Compare(a.User, b.User), strings.Compare(a.Partition, b.Partition))
	})
	return cluster, nil
}

// Layout returns what Cluster does but for the accounting database: partitions, Slurm's own
// reservations and licences. It needs no slurmdbd.
func (c *Client) Layout(ctx context.Context) (limits.Cluster, error) {
	cluster := limits.Cluster{Partitions: make(map[string]limits.Partition), Licenses: make(map[string]limits.License)}
	v, err := c.serverVersions(ctx)
	if err != nil {
		return cluster, err
	}
	addPartition := func(p limits.Partition, err error) error {
		cluster.Partitions[p.Name] = p
		return err
	}
	readPartition := each(func(p *partition) error { return addPartition(p.limits()) })
	if v[controller] <= lastFlat {
		readPartition = each(func(p *flatPartition) error { return addPartition(p.limits()) })
	}
	if err := c.readParts(ctx, []part{
		{controller, "/partitions", "partitions", readPartition},
		{controller, "/reservations", "reservations", each(func(r *reservation) error {
			reservation, err := r.limits()
			cluster.Reservations = append(cluster.Reservations, reservation)
			return err
		})},
		{controller, "/licenses", "licenses", each(func(l *license) error {
			cluster.Licenses[l.Name] = limits.License{Total: l.Total.or(0), Used: l.Used.or(0) + l.Reserved.or(0), Kept: l.Deficit.or(0)}
			return nil
		})},
	}); err != nil {
		return cluster, err
	}
	if len(cluster.Partitions) == 0 { // which no Slurm has
		return cluster, emptyError("/partitions")
	}
	slices.SortFunc(cluster.Reservations, func(a, b limits.Reservation) int { return strings.Compare(a.Name, b.Name) })
	return cluster, nil
}

// part is a list that describes the cluster.
type part struct {
	family     family
	path, name string
	read       field
}

func (c *Client) readParts(ctx context.Context, parts []part) error {
	for _, part := range parts {
		r := request{method: http.MethodGet, family: part.family, path: part.path}
		if err := c.do(ctx, r, fields{part.name: part.read}); err != nil {
			return err
		}
	}
	return nil
}

// emptyError is the error of an empty list that no Slurm has. Its absent limits must not be
// taken for no limits. The error wraps slurm.ErrUnavailable.
type emptyError string

// Error implements error.
func (path emptyError) Error() string {
	return fmt.Sprintf("slurmrestd: GET %s: the list is empty, which it is in no Slurm", string(path))
}

// Unwrap returns slurm.ErrUnavailable.
func (emptyError) Unwrap() error { return slurm.ErrUnavailable }

// flatPartition is a partition in v0.0.38.
type flatPartition struct {
	Name           string `json:"name"`
	Flags          words  `json:"flags"`
	State          string `json:"state"`
	BillingWeights string `json:"billing_weights"`
	DefaultTime    number `json:"default_time_limit"` // minutes
	MaxTime        number `json:"max_time_limit"`     // minutes
	MaxNodes       number `json:"maximum_nodes_per_job"`
	MinNodes       number `json:"min nodes per job"`
	Nodes          string `json:"nodes"`
	QOS            string `json:"qos"`
	TotalCPUs      number `json:"total_cpus"`
	AllowAccounts  words  `json:"allowed_accounts"`
	DenyAccounts   words  `json:"denied_accounts"`
	AllowQOS       words  `json:"allowed_qos"`
	DenyQOS        words  `json:"denied_qos"`
}

func (p *flatPartition) required() []presence {
	return []presence{{"name", p.Name != ""}, {"state", p.State != ""}, {"max_time_limit", p.MaxTime.present}}
}

func (p *flatPartition) limits() (limits.Partition, error) {
	return newPartition(limits.Partition{
		Name:        p.Name,
		Default:     containsFold(p.Flags, "DEFAULT"),
		Up:          p.State == "UP",
		State:       p.State,
		MaxTime:     minutesOrNone(p.MaxTime),
		DefaultTime: minutesOrNone(p.DefaultTime),
		MaxNodes:    p.MaxNodes.or(limits.None),
		MinNodes:    p.MinNodes.or(0),
		QOS:         p.QOS,
		TotalCPUs:   p.TotalCPUs.or(0),

		AllowAccounts: p.AllowAccounts, DenyAccounts: p.DenyAccounts, AllowQOS: p.AllowQOS, DenyQOS: p.DenyQOS,
	}, p.Nodes, p.BillingWeights)
}

// partition is a partition in later versions.
type partition struct {
	Name  string `json:"name"`
	Nodes struct {
		Configured string `json:"configured"`
	} `json:"nodes"`
	Accounts struct {
		Allowed words `json:"allowed"`
		Deny    words `json:"deny"`
	} `json:"accounts"`
	QOS struct {
		Allowed  words  `json:"allowed"`
		Deny     words  `json:"deny"`
		Assigned string `json:"assigned"`
	} `json:"qos"`
	TRES struct {
		BillingWeights string `json:"billing_weights"`
	} `json:"tres"`
	CPUs struct {
		Total number `json:"total"`
	} `json:"cpus"`
	Defaults struct {
		Time number `json:"time"` // minutes
	} `json:"defaults"`
	Maximums struct {
		Time  number `json:"time"` // minutes
		Nodes number `json:"nodes"`
	} `json:"maximums"`
	Minimums struct {
		Nodes number `json:"nodes"`
	} `json:"minimums"`
	Partition struct {
		State words `json:"state"` // since v0.0.40
	} `json:"partition"`
}

func (p *partition) required() []presence {
	return []presence{{"name", p.Name != ""}, {"maximums.time", p.Maximums.Time.present}}
}

func (p *partition) limits() (limits.Partition, error) {
	return newPartition(limits.Partition{
		Name:        p.Name,
		Up:          len(p.Partition.State) == 0 || containsFold(p.Partition.State, "UP"),
		State:       strings.Join(p.Partition.State, "+"),
		MaxTime:     minutesOrNone(p.Maximums.Time),
		DefaultTime: minutesOrNone(p.Defaults.Time),
		MaxNodes:    p.Maximums.Nodes.or(limits.None),
		MinNodes:    p.Minimums.Nodes.or(0),
		QOS:         p.QOS.Assigned,
		TotalCPUs:   p.CPUs.Total.or(0),

		AllowAccounts: p.Accounts.Allowed, DenyAccounts: p.Accounts.Deny, AllowQOS: p.QOS.Allowed, DenyQOS: p.QOS.Deny,
	}, p.Nodes.Configured, p.TRES.BillingWeights)
}

// newPartition fills in the fields that have the same form in every version.
func newPartition(p limits.Partition, nodes, weights string) (limits.Partition, error) {
	if p.Up {
		p.State = ""
	}
	var err error
	if p.Nodes, err = hostlist.Expand(nodes); err != nil {
		return p, fmt.Errorf("partition %s: %w", p.Name, err)
	}
	if p.BillingWeights, err = slurm.ParseWeights(weights); err != nil {
		return p, fmt.Errorf("partition %s: %w", p.Name, err)
	}
	return p, nil
}

func containsFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, word) })
}

// minutesOrNone turns a limit in minutes into seconds.
func minutesOrNone(n number) int64 {
	if !n.set {
		return limits.None
	}
	return 60 * min(n.value, slurm.UnlimitedTime)
}

// reservation is one of Slurm's own reservations.
type reservation struct {
	Name     string `json:"name"`
	Start    number `json:"start_time"`
	End      number `json:"end_time"`
	Nodes    string `json:"node_list"`
	Flags    words  `json:"flags"`
	Users    words  `json:"users"`
	Accounts words  `json:"accounts"`
	Licenses string `json:"licenses"`
	Cores    []struct {
		Node string `json:"node"`
		IDs  string `json:"core"`
	} `json:"core_specializations"` // none if it has its nodes whole; since v0.0.39
}

func (r *reservation) required() []presence {
	return []presence{{"name", r.Name != ""}, {"start_time", r.Start.present}, {"end_time", r.End.present}}
}

func (r *reservation) limits() (limits.Reservation, error) {
	nodes, err := hostlist.Expand(r.Nodes)
	if err != nil {
		err = fmt.Errorf("reservation %s: %w", r.Name, err)
	}
	var cores map[string]int64
	for _, of := range r.Cores {
		n, bad := slurm.CountCores(of.IDs)
		if bad != nil {
			err = fmt.Errorf("reservation %s: cores of node %s: %w", r.Name, of.Node, bad)
		}
		if cores == nil {
			cores = make(map[string]int64)
		}
		cores[of.Node] = n
	}
	return limits.Reservation{
		Name:        r.Name,
		Start:       r.Start.or(0),
		End:         r.End.or(0),
		Nodes:       nodes,
		Cores:       cores,
		Licenses:    r.Licenses,
		Maintenance: containsFold(r.Flags, "MAINT"),
		Repeats:     r.repeats(),
		Floats:      containsFold(r.Flags, "TIME_FLOAT"),
		Flex:        containsFold(r.Flags, "FLEX"),
		Users:       r.Users,
		Accounts:    r.Accounts,
	}, err
}

// repeats returns how often a reservation comes again. Of several flags the first counts, as in
// Slurm.
func (r *reservation) repeats() limits.Repeats {
	for _, known := range [...]struct {
		flag    string
		repeats limits.Repeats
	}{{"HOURLY", limits.Hourly}, {"DAILY", limits.Daily}, {"WEEKDAY", limits.Weekdays}, {"WEEKEND", limits.Weekends}, {"WEEKLY", limits.Weekly}} {
		if containsFold(r.Flags, known.flag) {
			return known.repeats
		}
	}
	return limits.Never
}

// license is the licences of one name.
type license struct {
	Name     string `json:"LicenseName"`
	Total    number `json:"Total"`
	Used     number `json:"Used"`
	Reserved number `json:"Reserved"`
	// Deficit is how many of a remote licence others than Slurm's jobs have too many.
	Deficit number `json:"LastDeficit"`
}

func (l *license) required() []presence {
	return []presence{{"LicenseName", l.Name != ""}, {"Total", l.Total.present}}
}

// qos is a quality of service of slurmdbd. Before v0.0.41 the API leaves out its limit on the
// submitted jobs of a group.
type qos struct {
	Name   string `json:"name"`
	Flags  words  `json:"flags"`
	Usage  number `json:"usage_factor"`
	Limits struct {
		Max struct {
			TRES struct {
				Total   tresList `json:"total"`
				Minutes struct {
					Total tresList `json:"total"` // since v0.0.42
					Per   struct {
						Job tresList `json:"job"`
						QOS tresList `json:"qos"` // of all running jobs
					} `json:"per"`
				} `json:"minutes"`
				Per struct {
					Job     tresList `json:"job"`
					Node    tresList `json:"node"`
					User    tresList `json:"user"`
					Account tresList `json:"account"`
				} `json:"per"`
			} `json:"tres"`
			ActiveJobs struct {
				Count number `json:"count"` // of the group
			} `json:"active_jobs"`
			Jobs struct {
				Count      number `json:"count"` // submitted, of the group; since v0.0.41
				ActiveJobs struct {
					Per jobsPer `json:"per"`
				} `json:"active_jobs"`
				Per jobsPer `json:"per"` // submitted
			} `json:"jobs"`
			WallClock struct {
				Per struct {
					Job number `json:"job"` // minutes
				} `json:"per"`
			} `json:"wall_clock"`
		} `json:"max"`
		Min struct {
			TRES struct {
				Per struct {
					Job tresList `json:"job"`
				} `json:"per"`
			} `json:"tres"`
		} `json:"min"`
	} `json:"limits"`
}

// jobsPer are the numbers of jobs that one user or account may have.
type jobsPer struct {
	User    number `json:"user"`
	Account number `json:"account"`
}

func (q *qos) required() []presence {
	return []presence{{"name", q.Name != ""}, {"limits.max.wall_clock.per.job", q.Limits.Max.WallClock.Per.Job.present}}
}

func (q *qos) limits() limits.QOS {
	most := &q.Limits.Max
	return limits.QOS{
		Name:               q.Name,
		OverPartQOS:        containsFold(q.Flags, "OVERRIDE_PARTITION_QOS"),
		PartitionTimeLimit: containsFold(q.Flags, "PARTITION_TIME_LIMIT"),
		PartitionMaxNodes:  containsFold(q.Flags, "PARTITION_MAXIMUM_NODE"),
		PartitionMinNodes:  containsFold(q.Flags, "PARTITION_MINIMUM_NODE"),
		UsageFactor:        max(0, q.Usage.exact()),
		JobLimits: limits.JobLimits{
			MaxWall:        minutesOrNone(most.WallClock.Per.Job),
			MaxTRES:        most.TRES.Per.Job.counts(),
			MaxTRESPerNode: most.TRES.Per.Node.counts(),
			MaxTRESMins:    most.TRES.Minutes.Per.Job.counts(),
			GrpTRESMins:    most.TRES.Minutes.Total.counts(),
			GrpTRESRunMins: most.TRES.Minutes.Per.QOS.counts(),
			GrpTRES:        most.TRES.Total.counts(),
			MinTRES:        q.Limits.Min.TRES.Per.Job.counts(),
			PerUser:        limits.Share{TRES: most.TRES.Per.User.counts(), Jobs: most.Jobs.ActiveJobs.Per.User.limit(), Submitted: most.Jobs.Per.User.limit()},
			PerAccount:     limits.Share{TRES: most.TRES.Per.Account.counts(), Jobs: most.Jobs.ActiveJobs.Per.Account.limit(), Submitted: most.Jobs.Per.Account.limit()},
			Group:          limits.Share{Jobs: most.ActiveJobs.Count.limit(), Submitted: most.Jobs.Count.limit()},
		},
	}
}

// association is an association of slurmdbd.
type association struct {
	Cluster   string `json:"cluster"`
	Account   string `json:"account"`
	User      string `json:"user"`
	Partition string `json:"partition"`
	Parent    string `json:"parent_account"`
	Flags     words  `json:"flags"`
	IsDefault flag   `json:"is_default"`
	QOS       words  `json:"qos"`
	Default   struct {
		QOS text `json:"qos"`
	} `json:"default"`
	Max struct {
		Jobs struct {
			Active number `json:"active"` // running, of one user
			Total  number `json:"total"`  // submitted, of one user
			Per    struct {
				Count     number `json:"count"` // running, of the group
				Submitted number `json:"submitted"`
				WallClock number `json:"wall_clock"` // minutes
			} `json:"per"`
		} `json:"jobs"`
		TRES struct {
			Total tresList `json:"total"`
			Group struct {
				Minutes tresList `json:"minutes"`
				Active  tresList `json:"active"` // minutes of running jobs
			} `json:"group"`
			Minutes struct {
				Per struct {
					Job tresList `json:"job"`
				} `json:"per"`
			} `json:"minutes"`
			Per struct {
				Job  tresList `json:"job"`
				Node tresList `json:"node"`
			} `json:"per"`
		} `json:"tres"`
	} `json:"max"`
}

func (a *association) required() []presence {
	return []presence{{"account", a.Account != ""}, {"max.jobs.per.wall_clock", a.Max.Jobs.Per.WallClock.present}}
}

func (a *association) limits() limits.Association {
	return limits.Association{
		Cluster:    a.Cluster,
		Account:    a.Account,
		User:       a.User,
		Partition:  a.Partition,
		Parent:     a.Parent,
		Default:    a.User != "" && (bool(a.IsDefault) || containsFold(a.Flags, "DEFAULT")),
		DefaultQOS: string(a.Default.QOS),
		QOS:        a.QOS,
		JobLimits: limits.JobLimits{
			MaxWall:        minutesOrNone(a.Max.Jobs.Per.WallClock),
			MaxTRES:        a.Max.TRES.Per.Job.counts(),
			MaxTRESMins:    a.Max.TRES.Minutes.Per.Job.counts(),
			GrpTRESMins:    a.Max.TRES.Group.Minutes.counts(),
			GrpTRESRunMins: a.Max.TRES.Group.Active.counts(),
			MaxTRESPerNode: a.Max.TRES.Per.Node.counts(),
			GrpTRES:        a.Max.TRES.Total.counts(),
			PerUser:        limits.Share{Jobs: a.Max.Jobs.Active.limit(), Submitted: a.Max.Jobs.Total.limit()},
			Group:          limits.Share{Jobs: a.Max.Jobs.Per.Count.limit(), Submitted: a.Max.Jobs.Per.Submitted.limit()},
		},
	}
}

// flag is a truth value that v0.0.38 writes as a number.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(data []byte) error {
	if truth, err := strconv.ParseBool(string(data)); err == nil {
		*f = flag(truth)
		return nil
	}
	var n number
	err := n.UnmarshalJSON(data)
	*f = n.value != 0
	return err
}

// Operators returns the users with an administrator level in accounting. They may see and
// change the jobs of all users. The API does not tell SlurmUser.
func (c *Client) Operators(ctx context.Context) ([]string, error) {
	users := 0
	var operators []string
	err := c.do(ctx, request{method: http.MethodGet, family: database, path: "/users"}, fields{
		"users": each(func(u *user) error {
			users++
			if containsFold(u.Level, "Operator") || containsFold(u.Level, "Administrator") {
				operators = append(operators, u.Name)
			}
			return nil
		}),
	})
	if err == nil && users == 0 {
		err = emptyError("/users")
	}
	slices.Sort(operators)
	return operators, err
}

// user is a user of slurmdbd.
type user struct {
	Name  string `json:"name"`
	Level words  `json:"administrator_level"`
}

func (u *user) required() []presence {
	return []presence{{"name", u.Name != ""}, {"administrator_level", len(u.Level) > 0}}
}
