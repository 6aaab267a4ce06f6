package filter

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/wrapper/ticket"
)

// The first words of the lines that varq.lua understands. The rest of a line is for Slurm
// (an option's value), for the SPANK plugin (the ticket) or for the user (after "say" and
// "refuse"). After "plan", what is said is said once Slurm has accepted the job; after "wait" too,
// another answer, which only says something, takes the place of that. The last line of a complete
// answer is the word end.
const (
	wordBegin     = "begin"
	wordTime      = "time"
	wordComment   = "comment"
	wordExclude   = "exclude"
	wordNodes     = "nodes"
	wordClusters  = "clusters"
	wordPartition = "partition"
	wordAccount   = "account"
	wordQOS       = "qos"
	wordTicket    = "ticket"
	wordPlan      = "plan"
	wordWait      = "wait"
	wordSay       = "say"
	wordRefuse    = "refuse"
	wordEnd       = "end"
)

// errNoAnswer is the error of an answer that is neither a plan nor a refusal.
var errNoAnswer = errors.New("varqd's answer is neither a plan nor a refusal")

// Write writes the lines for varqd's answer. They make varq.lua change the submission, or
// refuse it.
func (s *Submission) Write(w io.Writer, a api.PlanAnswer) error {
	var l lines
	switch {
	case a.Plan != nil:
		for _, size := range a.LeftOut {
			s.notes = append(s.notes, "not "+slurmtime.InZone(size, s.zone))
		}
		s.settles = a.MayChange && !s.Quote && !s.Waits
		if a.MayChange && s.Waits && !s.Quote {
			s.notes = append(s.notes, "that holds unless the site changes the job while it is submitted: varq status tells")
		}
		if p := a.Plan; p.Offered != 0 {
			s.notes = append(s.notes, fmt.Sprintf("it is promised as it was offered at %s; by now the forecast is %s (varq status tells how it goes on)", s.time(p.Offered), prob.Format(p.Forecast)))
		}
		s.choose(&l, &a)
		if waits := a.Awaits(s.zone); waits != "" {
			s.notes = append(s.notes, slurmtime.InZone(waits, s.zone))
		}
		s.accept(&l, a.Plan, a.RunnerUp, a.Offers)
	case a.Refusal != nil:
		s.refuse(&l, a.Refusal)
	default:
		return errNoAnswer
	}
	return l.write(w)
}

// WriteError writes lines that make varq.lua refuse the submission. The user reads each line
// of the error.
func WriteError(w io.Writer, err error) error {
	var l lines
	for line := range strings.Lines(err.Error()) {
		l.add(wordRefuse, "%s", line)
	}
	return l.write(w)
}

// choose sets which of several accounts and QOS the job has, and tells the user.
func (s *Submission) choose(l *lines, a *api.PlanAnswer) {
	for _, of := range [...]struct{ word, chosen, only, called, several string }{
		{wordAccount, a.Account, s.accounts, "account", "accounts"}, {wordQOS, a.QOS, "", "QOS", "QOS"},
	} {
		if of.chosen != "" {
			s.notes = append(s.notes, fmt.Sprintf("the job gets %s %s: of the %s named, none makes the promise cost less", of.called, of.chosen, of.several))
		}
		if is := cmp.Or(of.chosen, of.only); is != "" && !s.Quote {
			l.add(of.word, "%s", is)
		}
	}
}

func (s *Submission) accept(l *lines, p *api.Plan, runnerUp *api.Slot, others []api.Offer) {
	l.add(wordTicket, "%s", ticket.Of(p))
	if !s.Quote {
		l.add(wordPlan, "%s", p.ID)
		if s.settles {
			l.add(wordWait, "")
		}
		if p.FinishBy == 0 || s.later(p) {
			l.add(wordBegin, "uts%d", p.SubmitBegin())
		}
		l.add(wordTime, "%d", p.TimeLimit/60)
		l.add(wordComment, "%s", p.Comment)
		if p.SizeNodes != 0 {
			l.add(wordNodes, "%d", p.SizeNodes)
		}
		if p.Cluster != "" {
			l.add(wordClusters, "%s", p.Cluster)
		}
		if s.order != nil && s.order.Partition != "" {
			l.add(wordPartition, "%s", s.order.Partition)
		}
		if len(p.Exclude) > 0 {
			l.add(wordExclude, "%s", strings.Join(p.Exclude, ","))
		}
	}
	if s.Waits && !s.Quote {
		return // varq.lua learns too late that Slurm has accepted the job
	}
	for _, line := range s.says(p) {
		l.add(wordSay, "%s", line)
	}
	if runnerUp != nil && !s.Quiet {
		l.add(wordSay, "next best: %s for up to %s (estimate %s, the work costs %s)", nodes(runnerUp.Nodes), slurmtime.FormatDuration(runnerUp.Limit), prob.Format(runnerUp.Estimate), runnerUp.Work)
	}
	if s.Quote && !s.Quiet {
		s.offer(l, wordSay, others)
	}
}

// says returns what to tell the user of a plan or a quote.
func (s *Submission) says(p *api.Plan) []string {
	if s.Quiet {
		return nil
	}
	verb := "promised"
	if s.Quote {
		verb = "quoted, not promised"
	}
	if p.FinishBy != 0 {
		return slices.Concat(s.saysOfEnd(p, verb), saysOfNodes(p), s.notes)
	}
	on := ""
	if p.SizeNodes != 0 {
		on = fmt.Sprintf(" on %s for up to %s", nodes(p.SizeNodes), slurmtime.FormatDuration(p.WorkLimit))
	}
	lines := []string{
		fmt.Sprintf("%s: %srunning%s %s with probability %s (estimate %s)", verb, p.Subject(), on, s.span(p), prob.Format(p.Prob), prob.Format(p.Estimate)),
		fmt.Sprintf("eligible from %s, time limit %s", s.time(p.BeginTime), slurmtime.FormatDuration(p.TimeLimit)),
		fmt.Sprintf("the work costs %s; the reservation at most %s more, %s", p.Work, p.AtMost().RoundedUp(), p.AtMost().Share(p.Work)),
	}
	for _, more := range []string{p.OtherTasks(), p.Spread(&s.Request), p.Unlimited(&s.Request), p.GivesWay()} {
		if more != "" {
			lines = append(lines, more)
		}
	}
	return slices.Concat(lines, saysOfNodes(p), s.notes)
}

// saysOfNodes returns what to tell the user of the nodes that the job leaves out.
func saysOfNodes(p *api.Plan) []string {
	if left := p.LeavesOut(); left != "" {
		return []string{left + " (--risky-nodes=allow uses them)"}
	}
	return nil
}

// holding returns what to tell the user when Slurm has accepted the job of an srun or salloc, and
// its work may not start yet.
func (s *Submission) holding(p *api.Plan, job string, now int64) []string {
	if s.Quiet || p.HoldUntil <= now {
		return nil
	}
	if s.Early {
		return []string{fmt.Sprintf("once job %s has its nodes, its work is held until %s", job, s.time(p.HoldUntil))}
	}
	return []string{fmt.Sprintf("holding until %s: job %s has its nodes, and the work on them starts then", s.time(p.HoldUntil), job)}
}

// span describes to the user when the work will be running.
func (s *Submission) span(p *api.Plan) string {
	switch p.HoldUntil {
	case p.BeginBy:
		return "by " + s.time(p.BeginBy)
	case 0:
		return "by " + s.time(p.BeginBy) + ", as soon as it can,"
	default:
		return "from " + s.time(p.HoldUntil) + ", by " + s.time(p.BeginBy) + ","
	}
}

// refuse tells of a refusal: each clause of the reason is a line.
func (s *Submission) refuse(l *lines, r *api.Refusal) {
	reason := slurmtime.InZone(r.Reason, s.zone)
	for i, clause := range strings.Split(reason, "; ") {
		if i == 0 {
			clause = "no promise: " + clause
		}
		l.add(wordRefuse, "%s", clause)
	}
	nothing := "nothing was submitted"
	if asked := s.Request.AskedFor(reason, s.now, s.zone); asked != "" {
		nothing += " (asked for: " + asked + ")"
	}
	if len(r.Offers) == 0 {
		l.add(wordRefuse, "%s.", nothing)
		return
	}
	l.add(wordRefuse, "%s. Add one of these to the same command within a minute:", nothing)
	s.offer(l, wordRefuse, r.Offers)
	if kept := r.Kept(s.zone); kept != "" {
		l.add(wordRefuse, "%s", kept)
	}
}

// offer tells what else can be promised.
func (s *Submission) offer(l *lines, word string, offers []api.Offer) {
	for i := range offers {
		o := &offers[i]
		options := strings.Join(o.Options(&s.Request, s.zone), " ")
		switch {
		case o.Kind == api.OfferEnd:
			l.add(word, "possible: %s", options)
		case o.FinishBy != 0:
			l.add(word, "possible: %s   (probability %s)", options, prob.Format(o.Prob))
		default:
			l.add(word, "possible: %s   (probability %s, at most %s more)", options, prob.Format(o.Prob), o.Worst.RoundedUp())
		}
	}
}

func (s *Submission) time(at int64) string { return slurmtime.Format(at, s.zone) }

// lines collects the lines of an answer, so that only complete answers are written.
type lines struct{ text strings.Builder }

// add adds one line. A line break in it, for example from a file name, becomes a space.
func (l *lines) add(word, format string, args ...any) {
	rest := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	rest = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == 0 {
			return ' '
		}
		return r
	}, rest)
	fmt.Fprintf(&l.text, "%s %s\n", word, rest)
}

func (l *lines) write(w io.Writer) error {
	l.text.WriteString(wordEnd + "\n")
	_, err := io.WriteString(w, l.text.String())
	return err
}
