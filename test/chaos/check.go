package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The kinds of violations.
const (
	lost      = "promises lost"
	wrong     = "verdicts wrong"
	stopped   = "jobs stopped by varq"
	shortened = "jobs shortened by varq"
	hindered  = "plain jobs hindered"
	exceeded  = "limits exceeded"
	overheld  = "holds above the ceiling"
	early     = "work begun too early"
	unwell    = "varqd not as it should be"
)

// violationKinds are all kinds, in the order in which they are reported.
var violationKinds = []string{lost, wrong, stopped, shortened, hindered, exceeded, overheld, early, unwell}

// Violation is something that must not be.
type Violation struct {
	Kind, Job string // the job's name
	What      string
	Context   []string // lines of the evidence about it
}

// subject is what the evidence says about one submission.
type subject struct {
	*Submission
	Acts   []Act // of the user's, on a job of this number
	runs   []JobRun
	stamps []Stamp
	sights []Sight
	row    *Row // nil without a promise in the ledger
}

// checker looks for violations.
type checker struct {
	*Evidence
	byID  map[string]*Row
	found []Violation
}

// check looks for violations in the evidence. It goes by what README and varq(7) say, and shares
// no code with varqd.
func check(e *Evidence) []Violation {
	k := &checker{Evidence: e, byID: map[string]*Row{}}
	for i := range e.Rows {
		k.byID[e.Rows[i].ID] = &e.Rows[i]
	}
	claimed := map[string]bool{}
	for _, s := range e.Submissions {
		c := &subject{Submission: s, Acts: k.acts(s), runs: e.Runs[s.Name], stamps: e.Stamps[s.Name], sights: e.Sights[s.Name]}
		slices.SortStableFunc(c.runs, func(a, b JobRun) int { return int(a.Submit - b.Submit) })
		c.runs = withoutForgotten(withoutMixed(s, c.runs))
		k.promise(c)
		if c.row != nil {
			claimed[c.row.ID] = true
			k.verdict(c)
			k.hold(c)
		}
		k.stop(c)
		k.plain(c)
		k.limits(c)
	}
	for i := range e.Rows {
		if r := &e.Rows[i]; !claimed[r.ID] {
			k.unclaimed(r)
		}
	}
	for _, failure := range e.Failures {
		k.found = append(k.found, Violation{Kind: unwell, What: failure})
	}
	k.endings()
	return k.found
}

// acts returns what the user has done to the job of a submission: also what she meant for an
// earlier job of hers, whose number Slurm has given away again, because it was killed before it had
// saved that job.
func (k *checker) acts(s *Submission) []Act {
	acts := slices.Clone(s.Acts)
	for _, other := range k.Submissions {
		if other == s || s.Job == 0 || other.Job != s.Job || other.User != s.User || other.Began > s.Began {
			continue
		}
		for _, a := range other.Acts {
			if a.Began > s.Began {
				acts = append(acts, a)
			}
		}
	}
	return acts
}

// withoutMixed returns runs without those that have not the number that sbatch printed. Names are
// of one job each: a killed database that has lost its last rows makes one row of two jobs.
func withoutMixed(s *Submission, runs []JobRun) []JobRun {
	return slices.DeleteFunc(slices.Clone(runs), func(r JobRun) bool { return s.Job != 0 && r.Job != s.Job })
}

// withoutForgotten returns runs without those that wait for ever, because slurmctld was killed as
// it had just requeued the job, and went on with the run before.
func withoutForgotten(runs []JobRun) []JobRun {
	return slices.DeleteFunc(slices.Clone(runs), func(r JobRun) bool {
		return r.State == "PENDING" && slices.ContainsFunc(runs, func(other JobRun) bool {
			return other.Job == r.Job && other.Submit < r.Submit && other.End > r.Submit+near
		})
	})
}

func (k *checker) add(kind string, c *subject, format string, args ...any) {
	k.found = append(k.found, Violation{kind, c.Name, fmt.Sprintf(format, args...), k.context(c)})
}

// context returns what the evidence says about a submission.
func (k *checker) context(c *subject) []string {
	lines := []string{
		fmt.Sprintf("submission (%s, %s) %.1f..%.1f code %d: %s", c.Kind, c.User, c.Began, c.Done, c.Code, strings.Join(c.Args, " ")),
	}
	for line := range strings.Lines(c.Said) {
		lines = append(lines, "read: "+strings.TrimSpace(line))
	}
	for _, a := range c.Acts {
		lines = append(lines, fmt.Sprintf("act: %.1f..%.1f %s, code %d: %s", a.Began, a.Done, strings.Join(a.Args, " "), a.Code, strings.TrimSpace(a.Said)))
	}
	for _, r := range c.runs {
		lines = append(lines, "sacct: "+r.Line)
	}
	for _, s := range c.stamps {
		lines = append(lines, fmt.Sprintf("stamp: %+v", s))
	}
	if c.row != nil {
		lines = append(lines, rowLines(c.row)...)
	}
	from, to := c.Began-5, c.Done+5
	for _, r := range c.runs {
		to = max(to, float64(r.End)+30)
	}
	for _, f := range k.Faults {
		if f.Began < to && f.Done > from {
			lines = append(lines, fmt.Sprintf("fault: %.1f..%.1f %s %s", f.Began, f.Done, f.Kind, f.Detail))
		}
	}
	return lines
}

func rowLines(r *Row) []string {
	flat := *r
	flat.Events = nil
	lines := []string{fmt.Sprintf("ledger: %+v", flat)}
	for _, e := range r.Events {
		lines = append(lines, fmt.Sprintf("event: %d %s: %s", e.At, e.Kind, e.Text))
	}
	return lines
}

// promise finds the reservation of a submission, and checks that it is the one of which the user
// read.
func (k *checker) promise(c *subject) {
	plan := ""
	for _, r := range c.runs {
		if id, ok := planOf(r.Comment); ok {
			plan = id
		}
	}
	if plan != "" {
		c.row = k.byID[plan]
		if c.row == nil {
			k.add(lost, c, "the ledger does not know plan %s", plan)
			return
		}
	}
	if c.Promise == nil {
		return
	}
	if c.row == nil {
		if known(c.runs) {
			k.add(lost, c, "promised, but its job names no plan")
		} else if !slices.ContainsFunc(k.Rows, func(r Row) bool { return r.User == c.User && sameAs(c.Promise, &r) == "" }) {
			k.add(lost, c, "promised, and neither the ledger nor Slurm knows of it")
		}
		return
	}
	if difference := sameAs(c.Promise, c.row); difference != "" {
		k.add(lost, c, "the ledger has another promise: %s", difference)
	}
	if id := c.runs[len(c.runs)-1].Job; c.row.Job != id && known(c.runs) && !unlike(c) && !late(c) {
		k.add(lost, c, "the reservation has job %d, not %d", c.row.Job, id)
	}
}

// unlike reports whether the user changed what her job asks for before varqd had found the job.
// Then it is not the job that was promised.
func unlike(c *subject) bool {
	return c.row.Job == 0 && c.row.State == "CANCELLED" && slices.ContainsFunc(c.Acts, func(a Act) bool {
		return a.What == actNodes || a.What == actPartition || a.What == actQOS || a.What == actFeatures
	})
}

// late reports whether the job came when nothing was kept for it any more, and varqd has told the
// user so.
func late(c *subject) bool {
	return c.row.Job == 0 && c.row.State == "CANCELLED" && slices.ContainsFunc(c.row.Events, func(e Event) bool {
		return strings.Contains(e.Text, "nothing is promised about the job")
	})
}

// known reports whether accounting knows how the job ended. Of a job that a killed slurmctld has
// forgotten it does not.
func known(runs []JobRun) bool { return len(runs) > 0 && runs[len(runs)-1].End != 0 }

// planOf returns the plan that a job's comment names.
func planOf(comment string) (string, bool) {
	for _, word := range strings.Fields(comment) {
		if id, ok := strings.CutPrefix(word, "varq:"); ok {
			return id, true
		}
	}
	return "", false
}

// sameAs says how a promise in the ledger differs from what the user read, or returns "".
func sameAs(p *Promise, r *Row) string {
	from := p.From
	if from == 0 && !p.BestEffort {
		from = p.BeginBy
	}
	limit := duration(p.Limit)
	switch {
	case r.BeginBy != p.BeginBy:
		return fmt.Sprintf("begin by %d, read %d", r.BeginBy, p.BeginBy)
	case r.HoldUntil != from:
		return fmt.Sprintf("hold until %d, read %d", r.HoldUntil, from)
	case r.BeginTime != p.Eligible:
		return fmt.Sprintf("begin time %d, read %d", r.BeginTime, p.Eligible)
	case r.TimeLimit != limit:
		return fmt.Sprintf("time limit %d, read %d", r.TimeLimit, limit)
	}
	return ""
}

// unclaimed checks a promise that no job has.
func (k *checker) unclaimed(r *Row) {
	if r.State == "CANCELLED" || r.Open && float64(r.BeginTime) > k.End-300 || r.Job != 0 {
		return
	}
	k.found = append(k.found, Violation{wrong, r.ID, fmt.Sprintf("a promise that no job took up is %s", r.State), rowLines(r)})
}

// near is how far apart times may be, in seconds, that stand for the same.
const near = 2

// verdict checks what became of a promise.
func (k *checker) verdict(c *subject) {
	if !known(c.runs) {
		return // Slurm has forgotten the job
	}
	switch last := c.runs[len(c.runs)-1]; {
	case c.row.Open && last.State == "REQUEUED":
		return // accounting does not know of a later run, and varqd waits for it
	case c.row.Open && last.withoutStart() && c.row.State != "RUNNING":
		return // neither accounting nor varqd knows of its start, and varqd waits for it
	case unlike(c), late(c):
		return
	}
	allowed, why := k.expected(c)
	if !slices.Contains(allowed, c.row.State) {
		k.add(wrong, c, "%s, but should be %s: %s", c.row.State, strings.Join(allowed, " or "), why)
		return
	}
	if c.row.State == "KEPT" && !forgottenRun(c) && !stamped(c) && !slices.ContainsFunc(c.runs, func(r JobRun) bool { return r.Start == c.row.Start || r.withoutStart() }) {
		k.add(wrong, c, "kept by a start at %d, of which accounting knows nothing", c.row.Start)
	}
}

// expected returns the verdicts that are right for a promise, and why.
func (k *checker) expected(c *subject) (allowed []string, why string) {
	if refusedBySlurm(c) {
		return []string{"CANCELLED"}, "Slurm did not accept the job"
	}
	deadline := c.row.BeginBy
	inTime := deadline - near // of work that does not wait for the deadline
	if c.row.HoldUntil > inTime {
		inTime = deadline + near
	}
	for _, r := range c.runs {
		begin := max(r.Start, c.row.HoldUntil)
		switch {
		case r.withoutStart() && slices.ContainsFunc(c.stamps, func(s Stamp) bool { return s.Begin && int64(s.At) <= inTime }):
			return []string{"KEPT"}, "its work had begun in time, as it says itself"
		case r.withoutStart():
			return []string{"KEPT", "MISSED", "CANCELLED"}, "accounting does not know when it started"
		case r.Start == 0 || r.Start > deadline || r.End == 0 || r.End < begin-near:
		case r.End <= begin+near:
			return []string{"KEPT", "MISSED", "CANCELLED"}, "it ended as its work began"
		default:
			return []string{"KEPT"}, fmt.Sprintf("a run from %d to %d had its work begun by %d", r.Start, r.End, deadline)
		}
	}
	if forgottenRun(c) {
		return []string{"KEPT", "MISSED", "CANCELLED"}, "accounting does not know the run in which its work began in time"
	}
	last := c.runs[len(c.runs)-1]
	switch {
	case last.State == "CANCELLED" && last.End < deadline-near:
		return []string{"CANCELLED"}, "it was cancelled before its deadline"
	case last.State == "CANCELLED" && last.End <= deadline+near:
		return []string{"CANCELLED", "MISSED"}, "it was cancelled at its deadline"
	}
	touched := false
	for i := range c.Acts {
		a := &c.Acts[i]
		if a.What == actAccept || a.What == actTakeBack {
			continue
		}
		switch {
		case a.Began > float64(deadline+near) && k.calm(float64(deadline), a.Began):
			continue // varqd had seen the job late before
		case a.Began > float64(deadline+near):
		case a.What == actPartition || a.What == actQOS || a.What == actFeatures,
			a.What == actHold && !releasedAfter(c, a):
			until := float64(deadline)
			if last.Start != 0 {
				until = min(until, float64(last.Start))
			}
			if a.Code == 0 && k.calm(a.Done, until) {
				return []string{"CANCELLED"}, "its user had changed or held it: " + a.What
			}
		}
		touched = true
	}
	if slices.ContainsFunc(c.sights, func(s Sight) bool { return s.Reason == heldBySlurm }) {
		return []string{"CANCELLED", "MISSED"}, "Slurm itself held it"
	}
	if touched {
		return []string{"CANCELLED", "MISSED"}, "its user meddled with it"
	}
	return []string{"MISSED"}, "it did not start in time, or did not last until its work began"
}

// withoutStart reports whether accounting knows how the run ended, but has lost that it started.
func (r *JobRun) withoutStart() bool {
	return r.Start == 0 && (r.State == "COMPLETED" || r.State == "TIMEOUT")
}

// forgottenRun reports whether the work began in time, as the job says itself, in a run before a
// requeue of which accounting does not know that it started: slurmctld was killed meanwhile, or
// slurmdbd was away.
func forgottenRun(c *subject) bool {
	for _, s := range c.stamps {
		at := int64(s.At)
		later := slices.ContainsFunc(c.stamps, func(other Stamp) bool { return other.Restarts > s.Restarts })
		known := slices.ContainsFunc(c.runs, func(r JobRun) bool { return r.Start != 0 && r.Start-near <= at && at <= r.End+near })
		if s.Begin && at <= c.row.BeginBy+near && later && !known {
			return true
		}
	}
	return false
}

// stamped reports whether the work began, as the job says itself, when the promise was kept.
func stamped(c *subject) bool {
	return slices.ContainsFunc(c.stamps, func(s Stamp) bool {
		return s.Begin && max(c.row.Start, c.row.HoldUntil)-near <= int64(s.At) && int64(s.At) <= c.row.BeginBy+near
	})
}

// refusedBySlurm reports whether Slurm did not accept the job. It lists such a one in accounting
// as failed when it was submitted, some versions also as started then.
func refusedBySlurm(c *subject) bool {
	last := c.runs[len(c.runs)-1]
	return c.Code != 0 && last.State == "FAILED" && last.End == last.Submit
}

// heldBySlurm is the reason of a job that Slurm has put back into the queue and holds itself,
// because it could not be launched.
const heldBySlurm = "launch failed requeued held"

func releasedAfter(c *subject, hold *Act) bool {
	return slices.ContainsFunc(c.Acts, func(a Act) bool { return a.What == actRelease && a.Began > hold.Began })
}

// quiet is how long, in seconds, varqd needs at most to see a change in the queue if nothing is
// wrong. On a busy machine it sees it later; then there is no judging whether it could have.
const quiet = 15

// calm reports whether some time without any fault lies between from and to.
func (k *checker) calm(from, to float64) bool {
	for _, f := range k.Faults {
		if f.Done > from && f.Began < to {
			return k.calm(from, min(to, f.Began)) || k.calm(max(from, f.Done), to)
		}
	}
	return to-from >= quiet
}

// hold checks how long the nodes idled, and that the work did not begin before its time.
func (k *checker) hold(c *subject) {
	for _, s := range c.stamps {
		if s.Begin && s.At < float64(c.row.HoldUntil) {
			k.add(early, c, "the work began at %.3f, %.3f s before its time", s.At, float64(c.row.HoldUntil)-s.At)
		}
	}
	if c.Promise == nil || agreed(c.row) || slices.ContainsFunc(c.Acts, func(a Act) bool { return a.What == actBegin || a.What == actNodes || a.What == actRequeue }) {
		return
	}
	for _, r := range c.runs {
		if r.Start == 0 || r.End == 0 {
			continue
		}
		held := float64(max(0, min(r.End, c.row.HoldUntil)-r.Start)) * float64(r.Nodes)
		// What the user read is rounded to hundredths of node-hours, and begins to whole seconds.
		if most := math.Round(c.Promise.Ceiling*3600) + 18 + float64(r.Nodes); held > most {
			k.add(overheld, c, "%.0f node-seconds held, at most %.2f node-hours promised", held, c.Promise.Ceiling)
		}
	}
}

func agreed(r *Row) bool {
	return slices.ContainsFunc(r.Events, func(e Event) bool { return e.Kind == "agreed" })
}

// stop checks that nobody but its user, or --on-miss=cancel, has ended a job before its time.
func (k *checker) stop(c *subject) {
	for i, r := range c.runs {
		if r.End == 0 {
			continue
		}
		switch r.State {
		case "CANCELLED":
			k.cancelled(c, &c.runs[i])
		case "TIMEOUT":
			k.timedOut(c, &c.runs[i])
		}
	}
}

func (k *checker) cancelled(c *subject, r *JobRun) {
	if float64(r.End) >= math.Floor(k.End) || slices.ContainsFunc(c.Acts, func(a Act) bool { return a.What == actCancel }) {
		return
	}
	if c.row == nil || !c.OnMiss {
		k.add(stopped, c, "cancelled at %d, and nobody asked for that", r.End)
		return
	}
	switch deadline := c.row.BeginBy; {
	case r.End < deadline:
		k.add(stopped, c, "cancelled %d s before its deadline", deadline-r.End)
	case r.Start != 0 && r.Start <= deadline:
		k.add(stopped, c, "cancelled at %d, though it had started in time", r.End)
	case len(c.runs) > 1:
		k.add(stopped, c, "cancelled at %d, though it had been requeued", r.End)
	}
	for _, a := range c.Acts {
		// it started late: on its node it is cancelled whatever its user has changed
		if r.Allocated {
			break
		}
		if a.Code == 0 && a.Done < float64(r.End-quiet) && (a.What == actPartition || a.What == actQOS || a.What == actFeatures || a.What == actHold && !releasedAfter(c, &a)) &&
			k.calm(a.Done, float64(r.End)) {
			k.add(stopped, c, "cancelled at %d, though its user had changed or held it: %s", r.End, a.What)
		}
	}
}

// timedOut checks that a job which ran into its limit had all the time that it had asked for.
func (k *checker) timedOut(c *subject, r *JobRun) {
	limit, begin := c.Limit, r.Start
	if c.row != nil {
		begin = max(begin, c.row.HoldUntil)
	}
	for _, a := range c.Acts {
		if a.What == actBegin && c.row != nil { // what she adds to the hold comes off the work
			limit -= max(0, min(c.row.BeginTime, c.row.HoldUntil)-r.Start)
		}
		if a.What == actLimit { // from now on the limit is the user's own
			var minutes int64
			_, _ = fmt.Sscanf(a.Args[len(a.Args)-1], "TimeLimit=%d", &minutes)
			limit, begin = min(limit, 60*minutes), r.Start
		}
	}
	if got := r.End - begin; got < limit {
		k.add(shortened, c, "the work had %d s, not the %d s asked for", got, limit)
	}
}

// plain checks that a job without a reservation is as if varq was not there.
func (k *checker) plain(c *subject) {
	if c.Reserved {
		return
	}
	if strings.Contains(c.Said, "varq") {
		k.add(hindered, c, "sbatch speaks of varq")
	}
	if c.Code != 0 && !k.troubled(c.Began-5, c.Done) {
		k.add(hindered, c, "sbatch failed")
	}
	meddled := slices.ContainsFunc(c.Acts, func(a Act) bool { return a.What != actAccept && a.What != actTakeBack })
	for _, r := range c.runs {
		if r.Limit != c.Limit && !meddled {
			k.add(hindered, c, "its limit is %d s, not %d s", r.Limit, c.Limit)
		}
		if _, ok := planOf(r.Comment); ok {
			k.add(hindered, c, "its comment names a plan")
		}
	}
}

// troubled reports whether one of Slurm's daemons had a fault then.
func (k *checker) troubled(from, to float64) bool {
	return slices.ContainsFunc(k.Faults, func(f Fault) bool {
		return f.Began < to && f.Done > from && (strings.HasPrefix(f.Kind, "slurm") || strings.HasPrefix(f.Kind, "mariadb") || strings.HasPrefix(f.Kind, "munged"))
	})
}

// limits checks that no job ran with a limit that its partition or QOS does not allow.
func (k *checker) limits(c *subject) {
	if c.User == operator {
		return
	}
	for _, s := range c.sights {
		if s.State != "RUNNING" {
			continue
		}
		if s.Partition == limitedPartition && s.Limit > 60*shortMaxTime {
			k.add(exceeded, c, "runs in %s with a limit of %d s", s.Partition, s.Limit)
		}
		if s.QOS == limitedQOS && s.Limit > 60*fastMaxWall {
			k.add(exceeded, c, "runs with QOS %s and a limit of %d s", s.QOS, s.Limit)
		}
	}
}

// endings checks that varqd ended by itself only where its disk was full.
func (k *checker) endings() {
	for _, e := range k.Endings {
		full := slices.ContainsFunc(k.Faults, func(f Fault) bool { return f.Kind == "disk full" && f.Began < e.At && f.Done+5 > e.At })
		if !full {
			k.found = append(k.found, Violation{Kind: unwell, What: fmt.Sprintf("varqd ended by itself at %.1f: %s", e.At, e.State)})
		}
	}
}
