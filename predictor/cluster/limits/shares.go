package limits

import (
	"fmt"
	"iter"
	"maps"
	"math"
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
	// minutes limits TRES x minutes that are left of the time limits of the running jobs
	// (GrpTRESRunMins). A share with minutes has no other limit.
	minutes TRES
	// own is true if all the jobs are the user's.
	own bool
}

// CheckShares returns the rule by which the job would wait for others of its user, its account or
// its QOS to end, and not only for nodes; nil if there is none. Nothing can be forecast for such
// a job. It counts the jobs that may still run at the deadline (Unix seconds) by their time limits,
// and those that wait and may run beside it: the user's own, and others that had or have a begin
// time before the job has ended. id is that of the job if it has been submitted already.
func (j *Job) CheckShares(id, deadline int64, jobs iter.Seq[*workload.Job]) *Rule {
	shares := slices.DeleteFunc(j.shares(), func(s share) bool { return s.minutes != nil })
	if len(shares) == 0 {
		return nil
	}
	used := j.beside(id, deadline, shares, jobs)
	for i := range shares {
		s := &shares[i]
		if rule := s.check(j, &used[i]); rule != nil {
			return rule
		}
	}
	return nil
}

// LimitBeside returns the longest time limit, in seconds, that a job of this size may have
// beside others, and the rule that sets it: MaxLimit for what is left of limits on all running jobs
// together (GrpTRESRunMins) by those that CheckShares counts. One that runs has what is left of its
// time limit at the deadline, one that waits all of it. It returns None if nothing limits it.
func (j *Job) LimitBeside(id, deadline int64, jobs iter.Seq[*workload.Job]) (seconds int64, by Rule) {
	best := longest{seconds: None}
	shares := slices.DeleteFunc(j.shares(), func(s share) bool { return s.minutes == nil })
	if len(shares) == 0 {
		return best.seconds, best.by
	}
	used := j.beside(id, deadline, shares, jobs)
	for i := range shares {
		s := &shares[i]
		words := "leaves a job of this size %s beside other jobs that may run at the deadline"
		if s.own {
			words = "leaves a job of this size %s beside your other jobs that may run at the deadline"
		}
		for _, name := range slices.Sorted(maps.Keys(s.minutes)) {
			if taken := math.Ceil(used[i].seconds[name] / 60); taken > 0 {
				left := max(0, float64(s.minutes[name])-taken)
				best.boundMins(int64(left), j.amount(name), s.of, "GrpTRESRunMins="+name, words)
			}
		}
	}
	return best.seconds, best.by
}

// use is what the jobs have of a share.
type use struct {
	running, submitted int64
	tres               TRES
	seconds            map[string]float64 // TRES x seconds, of what the share limits by minutes
}

// beside returns what the jobs that may run beside this one have of each share. id and deadline are
// as in CheckShares.
func (j *Job) beside(id, deadline int64, shares []share, jobs iter.Seq[*workload.Job]) []use {
	used := make([]use, len(shares))
	for i := range used {
		used[i] = use{tres: TRES{}, seconds: map[string]float64{}}
	}
	for other := range jobs {
		if other.ID == id && id != 0 {
			continue
		}
		waits := other.Start == 0
		left := other.Limit
		if !waits {
			left = min(left, other.Start+other.Limit-deadline)
		}
		for i := range shares {
			s, u := &shares[i], &used[i]
			if !s.counts(other) {
				continue
			}
			n := int64(other.Count())
			u.submitted += n
			if waits && !s.meets(other, deadline+j.Limit) || !waits && left <= 0 {
				continue
			}
			u.running += n
			for name := range s.TRES {
				u.tres[name] += n * j.cluster.amount(&other.Request, name)
			}
			for name := range s.minutes {
				u.seconds[name] += float64(n*j.cluster.amount(&other.Request, name)) * float64(left)
			}
		}
	}
	return used
}

// meets reports whether a job that waits may run before end beside the one that the share is about,
// and its wait is not forecast with the queue.
func (s *share) meets(j *workload.Job, end int64) bool {
	return (s.own || j.Eligible > j.Submit) && j.Eligible < end
}

// checkAlone returns the rule that forbids the job even if there is no other, or nil.
func (s *share) checkAlone(job *Job) *Rule {
	for i, jobs := range []*int64{s.Jobs, s.Submitted} {
		if jobs != nil && *jobs == 0 {
			setting := s.settings[1+i] + "=0"
			return &Rule{Name: s.of + " " + setting, Says: fmt.Sprintf("%s allows no jobs (%s)", s.of, setting)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.TRES)) {
		if most := s.TRES[name]; most != None && job.amount(name) > most {
			return tooLarge(holder{name: s.of}, s.settings[0], name, most)
		}
	}
	return nil
}

// check returns the rule that leaves no room for the job beside others, or nil.
func (s *share) check(job *Job, used *use) *Rule {
	full := func(setting string, most int64, what string, is int64) *Rule {
		whose := "other jobs may have"
		if s.own {
			whose = "your other jobs may have"
		}
		return &Rule{Name: s.of + " " + setting, Says: fmt.Sprintf(
			"%s allows %d %s at once (%s), and until the deadline %s %d; when they end cannot be forecast", s.of, most, what, setting, whose, is)}
	}
	if s.Submitted != nil && used.submitted >= *s.Submitted {
		setting := s.settings[2]
		return &Rule{Name: s.of + " " + setting, Says: fmt.Sprintf("%s allows %d jobs in the queue at once (%s), and there are %d", s.of, *s.Submitted, setting, used.submitted)}
	}
	if s.Jobs != nil && used.running >= *s.Jobs {
		return full(s.settings[1], *s.Jobs, "jobs", used.running)
	}
	for _, name := range slices.Sorted(maps.Keys(s.TRES)) {
		if most := s.TRES[name]; most != None && job.amount(name) > 0 && used.tres[name]+job.amount(name) > most {
			return full(s.settings[0]+"="+name, most, name, used.tres[name])
		}
	}
	return nil
}

// shares returns the limits on what several jobs have at once, of which the job is one. As with
// other limits, the first QOS that sets one decides, and else the associations.
func (j *Job) shares() []share {
	var found []share
	const user, account, group = "user", "account", "group"
	byQOS := map[string]bool{} // limits that a QOS has set
	// left returns those TRES of a limit that no QOS has limited before.
	left := func(limit TRES, setting string, qos bool) TRES {
		var of TRES
		for name, most := range limit {
			key := setting + "=" + name
			if most == None || byQOS[key] {
				continue
			}
			if of == nil {
				of = TRES{}
			}
			of[name], byQOS[key] = most, qos
		}
		return of
	}
	// add adds those limits of a share that no QOS has set before. Settings of a QOS and of
	// associations that limit the same have the same kind.
	add := func(kind string, qos bool, s share) {
		limits := []Share{{TRES: left(s.TRES, kind+" TRES", qos)}, {Jobs: s.Jobs}, {Submitted: s.Submitted}}
		minutes := left(s.minutes, kind+" minutes", qos)
		s.Share, s.minutes = Share{}, nil
		for i, limit := range limits {
			key := fmt.Sprint(kind, i)
			if !limit.set() || i > 0 && byQOS[key] {
				continue
			}
			byQOS[key] = qos
			one := s
			one.Share = limit
			found = append(found, one)
		}
		if minutes != nil {
			s.minutes = minutes
			found = append(found, s)
		}
	}
	for _, h := range j.qos() {
		name := strings.TrimPrefix(h.name, "QOS ")
		in := func(other *workload.Job) bool {
			return other.QOS == name || j.cluster.Partitions[other.Partition].QOS == name
		}
		add(user, true, share{
			Share: h.PerUser, of: h.name + " (of one user)", own: true, settings: [3]string{"MaxTRESPU", "MaxJobsPU", "MaxSubmitJobsPU"},
			counts: func(other *workload.Job) bool { return in(other) && other.User == j.User },
		})
		add(account, true, share{
			Share: h.PerAccount, of: h.name + " (of one account)", settings: [3]string{"MaxTRESPA", "MaxJobsPA", "MaxSubmitJobsPA"},
			counts: func(other *workload.Job) bool { return in(other) && strings.EqualFold(other.Account, j.Account) },
		})
		add(group, true, share{
			Share: h.group(), of: h.name, settings: [3]string{"GrpTRES", "GrpJobs", "GrpSubmitJobs"}, counts: in, minutes: h.GrpTRESRunMins,
		})
	}
	for i, h := range j.associations() {
		hers := func(other *workload.Job) bool {
			return other.User == j.User && strings.EqualFold(other.Account, j.Account)
		}
		if i == 0 {
			add(user, false, share{
				Share: h.PerUser, of: h.name, own: true, settings: [3]string{"MaxTRESPU", "MaxJobs", "MaxSubmitJobs"}, counts: hers,
			})
		}
		together := share{Share: h.group(), of: h.name, own: true, settings: [3]string{"GrpTRES", "GrpJobs", "GrpSubmitJobs"}, counts: hers, minutes: h.GrpTRESRunMins}
		if account, whole := strings.CutPrefix(h.name, "account "); whole && (together.set() || together.minutes != nil) {
			accounts := j.cluster.Associations.below(account)
			together.own, together.counts = false, func(other *workload.Job) bool { return accounts[strings.ToLower(other.Account)] }
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
