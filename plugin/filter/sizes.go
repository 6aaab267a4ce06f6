package filter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
	"github.com/varq-project/varq/predictor/slurm/option"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/wrapper/ticket"
)

// The options of a job that can have several sizes.
const (
	sizes  = "sizes"
	sizeBy = "size-by" // --prefer is Slurm's own

	sizeOption = "size"
	aversion   = "risk-aversion"
	lockIn     = "lock-in"
)

// preferences is the value of --size-by, if it can be read.
func preferences(text string) (string, error) {
	_, err := elastic.ParsePreferences(text)
	return text, err
}

// readSizes reads the request of a job that can have several sizes. They stand for --nodes and
// --time, which the job's script may have.
func (s *Submission) readSizes(o options, size jobsize.Options) error {
	if _, given := o.own(o.asked()); !given && s.Size == "" {
		return fmt.Errorf("--%s needs --begin-by, the time by which the job is to run, or --%s=%s, with which it is promised nothing", sizes, sizeOption, api.SizeAuto)
	}
	text, _ := o.own(sizes)
	asked, err := elastic.ParseSizes(text)
	if err != nil {
		return fmt.Errorf("--%s: %w", sizes, err)
	}
	if err := s.giveWay(o); err != nil {
		return err
	}
	for _, a := range asked {
		size.Nodes = strconv.Itoa(int(a.Nodes))
		whole, err := size.Size()
		if err != nil {
			return err
		}
		if whole.Nodes != a.Nodes {
			return fmt.Errorf("--%s: with the job's other options its number of nodes is %d, and not %d; give its tasks by node, with --ntasks-per-node", sizes, whole.Nodes, a.Nodes)
		}
		s.Request.Sizes = append(s.Request.Sizes, api.Size{Size: whole, Limit: a.Seconds})
	}
	needs, err := size.Needs()
	if err != nil {
		return err
	}
	s.Request.Needs = &needs
	return nil
}

// giveWay notes which of --nodes and --time give way to --sizes. Who gives them on the command
// line, where --sizes is, may mean something else than what would become of it; they are no more
// than a default where the script, the environment or the site has them. The time of an order that
// says so is meant for the sizes.
func (s *Submission) giveWay(o options) error {
	instead := "--" + sizes
	if byReserve(s.order) {
		instead = "the sizes of varq reserve"
	}
	var errs []error
	var gone []string
	for _, option := range []struct {
		name   string
		letter byte
	}{{"nodes", 'N'}, {"time", 't'}} {
		switch {
		case !o.has(option.name), option.name == "time" && s.order != nil && s.order.Reference:
		case s.line.has(option.name, option.letter):
			errs = append(errs, fmt.Errorf("--%s does not go together with %s, which have nodes and times of their own: leave it out", option.name, instead))
		default:
			gone = append(gone, "--"+option.name+"="+o[option.name])
		}
	}
	if len(gone) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("instead of %s of the script, the environment or the site: %s", strings.Join(gone, " and "), instead))
	}
	return errors.Join(errs...)
}

// readSize reads the request of a job whose size is chosen by how long it would wait, and that is
// promised nothing.
func (s *Submission) readSize(o options, command string) error {
	s.Size, _ = o.own(sizeOption)
	if _, given := o.own(sizes); !given {
		return fmt.Errorf("--%s=%s needs --%s, such as --%s=4:2h,8:1h10m (varq size --fit=JOBNAME works them out)", sizeOption, s.Size, sizes, sizes)
	}
	for _, name := range []string{beginBy, finishBy, risk, "prob", beginAfter, "best-effort", "on-miss", "max-cost", "risky-nodes", checkpointInterval, sizeBy, accounts} {
		if _, given := o.own(name); given {
			return fmt.Errorf("--%s does not go together with --%s: the one is for a job that starts as soon as it can, the other for a promise", sizeOption, name)
		}
	}
	if o.has("array") {
		return fmt.Errorf("--%s does not go together with --array: one size is not best for all tasks, which start one after the other", sizeOption)
	}
	for _, name := range []string{begin, "dependency", "hold", "jobid"} {
		if o.has(name) {
			return fmt.Errorf("--%s does not go together with --%s: which size is best now is not known of a job that cannot start now", sizeOption, name)
		}
	}
	if o.has("deadline") {
		return fmt.Errorf("--%s does not go together with --deadline: Slurm cancels the job if the size that is expected to end first may take longer; varq size --finish-by --by=prob tells which size most probably ends in time", sizeOption)
	}
	for _, name := range unwelcomeToSize {
		if o.has(name) {
			return fmt.Errorf("--%s does not go together with --%s: %s", sizeOption, name, cmp.Or(option.Reason(name), option.OneCluster))
		}
	}
	if err := s.readLockIn(o, command); err != nil {
		return err
	}
	if err := s.readJob(o); err != nil {
		return err
	}
	asked := s.sizeRequest()
	return s.check(asked.Check())
}

// sizeRequest returns the request to varqd about the job's size.
func (s *Submission) sizeRequest() api.SizeRequest {
	r := &s.Request
	return api.SizeRequest{
		Job: r.Job, Needs: r.Needs, Sizes: r.Sizes, By: s.Size, Aversion: s.aversion,
		Reconsider: s.reconsider, TasksPerNode: s.tasksPerNode,
	}
}

// size has varqd choose the size of a job without a promise, and writes the answer.
func (h *Helper) size(ctx context.Context, varqd Varqd, s *Submission) error {
	r := &s.Request
	asked := s.sizeRequest()
	asked.Reconsider = asked.Reconsider && !s.Quote
	answer, err := varqd.Size(ctx, asked)
	if errors.Is(err, client.ErrUnreachable) {
		return fmt.Errorf("no size can be chosen now: %w; say --nodes and --time yourself", err)
	}
	if err != nil {
		return err
	}
	if answer.Best < 0 || answer.Best >= len(r.Sizes) || len(answer.Sizes) != len(r.Sizes) {
		return errNoAnswer
	}
	best := &r.Sizes[answer.Best]
	var l lines
	l.add(wordTicket, "%s", s.sizedTicket(best.Limit))
	if answer.Comment != "" {
		l.add(wordComment, "%s", answer.Comment)
	}
	l.add(wordNodes, "%d", best.Nodes)
	l.add(wordTime, "%d", best.Limit/60)
	if !s.Quiet {
		for _, note := range s.notes {
			l.add(wordSay, "%s", note)
		}
		among := fmt.Sprintf("of %d sizes", len(r.Sizes))
		if len(r.Sizes) == 1 {
			among = "the only size"
		}
		l.add(wordSay, "%s for %s, %s: %s", nodes(best.Nodes), slurmtime.FormatDuration(best.Limit), among, expected(&answer.Sizes[answer.Best]))
		var refused []elastic.Refused
		for i := range answer.Sizes {
			switch f := &answer.Sizes[i]; {
			case i == answer.Best:
			case f.Refused != "":
				refused = elastic.Refuse(refused, f.Nodes, f.Refused)
			default:
				l.add(wordSay, "%s for %s %s", nodes(f.Nodes), slurmtime.FormatDuration(f.Limit), rejected(f))
			}
		}
		for _, r := range refused {
			l.add(wordSay, "not %s", r)
		}
		if answer.Comment != "" {
			l.add(wordSay, "as long as it waits, it gets another of these sizes if it is then expected to end sooner")
		}
	}
	return l.write(h.Answer)
}

// sizedTicket returns the ticket of the job, of which limit is the time limit if its size stays.
func (s *Submission) sizedTicket(limit int64) string {
	if !s.reconsider {
		return ticket.Sized(limit)
	}
	limits := map[int32]int64{}
	for i := range s.Request.Sizes {
		limits[s.Request.Sizes[i].Nodes] = s.Request.Sizes[i].Limit
	}
	return ticket.SizedByNodes(s.tasksPerNode, limits)
}

// expected tells what is expected of a size that the cluster allows.
func expected(f *api.SizeForecast) string {
	if f.Wait == nil {
		return "nothing is known yet of how long it would wait"
	}
	wait := int64(*f.Wait + .5)
	return fmt.Sprintf("it is expected to wait %s, and to end within %s", slurmtime.FormatDuration(wait), slurmtime.FormatDuration(wait+f.Limit))
}

// rejected ends the sentence about a size that is not chosen.
func rejected(f *api.SizeForecast) string {
	if f.Wait == nil {
		return "might do: nothing is known yet of how long it would wait"
	}
	wait := int64(*f.Wait + .5)
	return fmt.Sprintf("would wait %s, and end within %s", slurmtime.FormatDuration(wait), slurmtime.FormatDuration(wait+f.Limit))
}

func nodes(n int32) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}
