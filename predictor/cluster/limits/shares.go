package limits

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// share is a limit on what several jobs have at once, and which jobs these are.
type share struct {
	Share
	of       string // "QOS tight (of one user)"
	counts   func(*workload.Job) bool
	settings [3]string // Slurm's names of the limits on TRES, jobs, and jobs submitted
	// own is true if all the jobs are the user's.
	own bool
}

// CheckShares returns the rule by which the job would wait for others of its user, its account or
// its QOS to end, and not only for nodes; nil if there is none. Nothing can be forecast for such
// a job. It counts the jobs that may still run at the deadline (Unix seconds) by their time limits,
// and those that wait and may run beside it: the user's own, and others that had or have a begin
// time before the job has ended. id is that of the job if it has been submitted already. The
// request is complete.
func (c *Cluster) CheckShares(r workload.Request, id, deadline int64, jobs iter.Seq[*workload.Job]) *Rule {
	shares := c.shares(&r)
	if len(shares) == 0 {
		return nil
	}
	running, submitted := make([]int64, len(shares)), make([]int64, len(shares))
	tres := make([]TRES, len(shares))
	for j := range jobs {
		if j.ID == id && id != 0 {
			continue
		}
		waits := j.Start == 0
		for i := range shares {
			s := &shares[i]
			if !s.counts(j) {
				continue
			}
			n := int64(j.Count())
			submitted[i] += n
			if waits && !s.meets(j, deadline+r.Limit) || !waits && j.Start+j.Limit <= deadline {
				continue
			}
			running[i] += n
			for name := range s.TRES {
				if tres[i] == nil {
					tres[i] = TRES{}
				}
				tres[i][name] += n * c.size(j.Request, name)
			}
		}
	}
	for i := range shares {
		s := &shares[i]
		if rule := s.check(c, &r, tres[i], running[i], submitted[i]); rule != nil {
			return rule
		}
	}
	return nil
}

// meets reports whether a job that waits may run before end beside the one that the share is about,
// and its wait is not forecast with the queue.
func (s *share) meets(j *workload.Job, end int64) bool {
	return (s.own || j.Eligible > j.Submit) && j.Eligible < end
}

// checkAlone returns the rule that forbids the job even if there is no other, or nil.
func (s *share) checkAlone(c *Cluster, r *workload.Request) *Rule {
	for i, jobs := range []*int64{s.Jobs, s.Submitted} {
		if jobs != nil && *jobs == 0 {
			setting := s.settings[1+i] + "=0"
			return &Rule{Name: s.of + " " + setting, Says: fmt.Sprintf("%s allows no jobs (%s)", s.of, setting)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.TRES)) {
		if most := s.TRES[name]; most != None && c.size(*r, name) > most {
			return tooLarge(holder{name: s.of}, s.settings[0], name, most)
		}
	}
	return nil
}

// check returns the rule that leaves no room for the job beside others, or nil.
func (s *share) check(c *Cluster, r *workload.Request, used TRES, running, submitted int64) *Rule {
	full := func(setting string, most int64, what string, is int64) *Rule {
		whose := "other jobs may have"
		if s.own {
			whose = "your other jobs may have"
		}
		return &Rule{Name: s.of + " " + setting, Says: fmt.Sprintf(
			"%s allows %d %s at once (%s), and until the deadline %s %d; when they end cannot be forecast", s.of, most, what, setting, whose, is)}
	}
	if s.Submitted != nil && submitted >= *s.Submitted {
		setting := s.settings[2]
		return &Rule{Name: s.of + " " + setting, Says: fmt.Sprintf("%s allows %d jobs in the queue at once (%s), and there are %d", s.of, *s.Submitted, setting, submitted)}
	}
	if s.Jobs != nil && running >= *s.Jobs {
		return full(s.settings[1], *s.Jobs, "jobs", running)
	}
	for _, name := range slices.Sorted(maps.Keys(s.TRES)) {
		if most := s.TRES[name]; most != None && c.size(*r, name) > 0 && used[name]+c.size(*r, name) > most {
			return full(s.settings[0]+"="+name, most, name, used[name])
		}
	}
	return nil
}

// shares returns the limits on what several jobs have at once, of which the job is one. As with
// other limits, the first QOS that sets one decides, and else the associations.
func (c *Cluster) shares(r *workload.Request) []share {
	var found []share
	const user, account, group = 0, 1, 2
	var byQOS [3][3]bool // which limits a QOS has set
	// add adds those limits of a share that no QOS has set before.
	add := func(kind int, qos bool, s share) {
		for i, limit := range []Share{{TRES: s.TRES}, {Jobs: s.Jobs}, {Submitted: s.Submitted}} {
			if !limit.set() || byQOS[kind][i] {
				continue
			}
			byQOS[kind][i] = qos
			one := s
			one.Share = limit
			found = append(found, one)
		}
	}
	for _, h := range c.qos(r) {
		name := strings.TrimPrefix(h.name, "QOS ")
		in := func(j *workload.Job) bool { return j.QOS == name || c.Partitions[j.Partition].QOS == name }
		add(user, true, share{
			Share: h.PerUser, of: h.name + " (of one user)", own: true, settings: [3]string{"MaxTRESPU", "MaxJobsPU", "MaxSubmitJobsPU"},
			counts: func(j *workload.Job) bool { return in(j) && j.User == r.User },
		})
		add(account, true, share{
			Share: h.PerAccount, of: h.name + " (of one account)", settings: [3]string{"MaxTRESPA", "MaxJobsPA", "MaxSubmitJobsPA"},
			counts: func(j *workload.Job) bool { return in(j) && strings.EqualFold(j.Account, r.Account) },
		})
		add(group, true, share{
			Share: h.group(), of: h.name, settings: [3]string{"GrpTRES", "GrpJobs", "GrpSubmitJobs"}, counts: in,
		})
	}
	for i, h := range c.associations(r) {
		hers := func(j *workload.Job) bool { return j.User == r.User && strings.EqualFold(j.Account, r.Account) }
		if i == 0 {
			add(user, false, share{
				Share: h.PerUser, of: h.name, own: true, settings: [3]string{"MaxTRESPU", "MaxJobs", "MaxSubmitJobs"}, counts: hers,
			})
		}
		together := share{Share: h.group(), of: h.name, own: true, settings: [3]string{"GrpTRES", "GrpJobs", "GrpSubmitJobs"}, counts: hers}
		if account, whole := strings.CutPrefix(h.name, "account "); whole && together.set() {
			accounts := c.within(account)
			together.own, together.counts = false, func(j *workload.Job) bool { return accounts[strings.ToLower(j.Account)] }
		}
		add(group, false, together)
	}
	return found
}

// group returns Group with the TRES of a group.
func (l *JobLimits) group() Share {
	s := l.Group
	s.TRES = l.GrpTRES
	return s
}

func (s *Share) set() bool { return s.Jobs != nil || s.Submitted != nil || len(s.TRES) > 0 }

// within returns an account and all accounts below it, in lower case.
func (c *Cluster) within(account string) map[string]bool {
	found := map[string]bool{strings.ToLower(account): true}
	for grew := true; grew; {
		grew = false
		for i := range c.Associations {
			a := &c.Associations[i]
			if name := strings.ToLower(a.Account); a.User == "" && !found[name] && found[strings.ToLower(a.Parent)] {
				found[name], grew = true, true
			}
		}
	}
	return found
}
