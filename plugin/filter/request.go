package filter

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurm/slurmconf"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// Submission has the options of a command that matter to varq.
type Submission struct {
	// Request is the request to varqd.
	Request api.PlanRequest
	// Size, if not empty, says how the size of a job is chosen that is submitted without a promise:
	// api.SizeAuto or api.SizeCost, among those of Request.
	Size string
	// aversion is how averse to waiting the choice is, and reconsider says that it is made again
	// while the job waits, of which each node then has tasksPerNode tasks, or 0 if that is not
	// given.
	aversion     float64
	reconsider   bool
	tasksPerNode int32
	// Quote is true if the command submits nothing, so that a quote is enough.
	Quote bool
	// Quiet is true if varq prints nothing unless something fails.
	Quiet bool
	// Waits is true if the command waits until its job starts, as srun and salloc do.
	Waits bool
	// Early is true if the command may tell its job before that has started, as salloc does.
	Early bool

	now   int64 // when the command was given, Unix seconds
	zone  *time.Location
	order *sbatch.Order // nil if neither varq reserve nor varq every runs the command
	line  line          // the command line
	notes []string      // what the user is told of options that give way
	// parsable is true if the command is to print the job's number alone.
	parsable bool
	// comment is the user's own, and arguments is how many words of the command are the script and
	// its arguments.
	comment   string
	arguments int
}

// Read returns the Submission for what is in the box: the options of a command (sbatch, srun or
// salloc), in the JSON of Slurm's json_cli_options, and its command line, whose words begin and end
// with a zero byte. environment is the command's. At least one option must be varq's. Relative
// times count from now, in Unix seconds. Times are read and written in zone. cluster returns the
// name of the host's cluster, or "" if that is not known. The error has a line for each
// contradiction and for each option that a reservation excludes.
//
// Invariant: Read alone determines the deadline. All later steps use it as an absolute time.
func Read(box []byte, command string, environment []string, now int64, zone *time.Location, cluster func() string) (*Submission, error) {
	cliOptions, line := splitLine(box)
	o, err := parseOptions(cliOptions)
	if err != nil {
		return nil, err
	}
	order, err := sbatch.ReadOrder(environment)
	if err != nil {
		return nil, err
	}
	s := &Submission{Quote: o.has("test-only"), Quiet: o.has("quiet"), now: now, zone: zone, order: order, line: line}
	s.parsable, s.comment, s.arguments = o.has("parsable"), o["comment"], arguments(cliOptions)
	if err := o.needSize(); err != nil {
		return nil, err
	}
	o.leaveOutNothing()
	if s.ownCluster(o["clusters"], cluster) {
		delete(o, "clusters")
	}
	if _, given := o.own(sizeOption); given {
		return s, s.readSize(o, command)
	}
	read := s.readReservation
	if o.asked() != beginBy {
		read = func(o options, now int64) error { return s.readCompletion(o, environment, now) }
	}
	refused := conflicts(o, command, environment, order)
	err = errors.Join(refused, read(o, now), s.readJob(o))
	if refused != nil && order == nil {
		err = errors.Join(err, fmt.Errorf("leave out the one or the other: without --%s the job is submitted like any other", o.asked()))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ownCluster reports whether --clusters names the one cluster to which the job is to go anyway:
// that of the order, else the host's.
func (s *Submission) ownCluster(clusters string, host func() string) bool {
	switch {
	case clusters == "":
		return false
	case s.order != nil && s.order.Site != "":
		return slurmconf.IsOwn(clusters, s.order.Site)
	}
	return slurmconf.IsOwn(clusters, host())
}

func (s *Submission) readReservation(o options, now int64) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	r := &s.Request

	var err error
	if r.BeginBy, err = s.deadline(o, beginBy, now); err != nil {
		fail("%w", err)
	} else if r.BeginBy == 0 {
		for _, name := range []string{"prob", "begin-after", "best-effort", "on-miss", "max-cost", "risky-nodes", sizes} {
			switch _, given := o.own(name); {
			case given && name == sizes:
				fail("--%s needs --begin-by, the time by which the job is to run, or --%s=%s, with which it is promised nothing", name, sizeOption, api.SizeAuto)
			case given:
				fail("--%s needs --begin-by or --finish-by: the time by which the job is to run or to have ended", name)
			}
		}
	}
	if _, given := o.own(checkpointInterval); given {
		fail("--%s needs --finish-by: failures put off the job's end, and not its start", checkpointInterval)
	}
	for _, name := range []string{finishBy, risk} {
		if _, given := o.own(name); given {
			fail("--%s does not go together with --begin-by: a promise is about the job's start or about its end", name)
		}
	}
	if r.Prob, err = o.probability("prob"); err != nil {
		fail("%w", err)
	}
	_, r.BestEffort = o.own("best-effort")
	if after, given := o.own("begin-after"); given {
		at, err := slurmtime.Parse(after, now, s.zone)
		switch {
		case err != nil:
			fail("--begin-after: %w", err)
		case r.BeginBy != 0 && at >= r.BeginBy:
			fail("--begin-after: %s is not before --begin-by, %s", slurmtime.Format(at, s.zone), slurmtime.Format(r.BeginBy, s.zone))
		case r.BestEffort:
			fail("--begin-after does not go together with --best-effort: the one holds the work, the other does not")
		default:
			r.BeginAfter = at
		}
	}
	if ceiling, given := o.own("max-cost"); given {
		var err error
		if r.MaxCost, err = api.ParseMaxCost(ceiling); err != nil {
			fail("--max-cost: %w", err)
		}
	}
	if r.OnMiss, err = o.onMiss(); err != nil {
		fail("%w", err)
	}
	if r.RiskyNodes, err = o.riskyNodes(); err != nil {
		fail("%w", err)
	}
	return errors.Join(errs...)
}

// deadline returns the time of one of varq's own options, or 0 if it is not given.
func (s *Submission) deadline(o options, name string, now int64) (int64, error) {
	text, given := o.own(name)
	if !given {
		return 0, nil
	}
	at, err := slurmtime.Parse(text, now, s.zone)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--%s: %w", name, err)
	case at <= now:
		return 0, fmt.Errorf("--%s: %s is in the past", name, slurmtime.Format(at, s.zone))
	}
	return at, nil
}

// readJob reads the job's request from Slurm's options. varqd fills in the defaults.
func (s *Submission) readJob(o options) error {
	job := &s.Request.Job
	job.Account, job.Partition, job.QOS = o["account"], o["partition"], o["qos"]
	if s.order != nil {
		s.Request.Tentative, s.Request.Group, s.Request.Home, s.Request.GroupProb = s.order.Tentative, s.order.Group, s.order.Home, s.order.GroupProb
		job.Partition = cmp.Or(s.order.Partition, job.Partition)
	}
	size, err := o.size()
	if err != nil {
		return err
	}
	if _, given := o.own(sizes); given {
		return s.readSizes(o, size)
	}
	if _, given := o.own(sizeBy); given {
		return fmt.Errorf("--%s chooses among --%s", sizeBy, sizes)
	}
	if job.Size, err = size.Size(); err != nil {
		return err
	}
	needs, err := size.Needs()
	if err != nil {
		return err
	}
	s.Request.Needs = &needs
	if limit, given := o["time"]; given {
		if job.Limit, err = slurmtime.ParseDuration(limit); err != nil {
			return fmt.Errorf("--time: %w", err)
		}
		if job.Limit == slurmtime.Unlimited {
			return errors.New("--time: a reservation needs a time limit, such as 1:00:00")
		}
	}
	if s.order != nil && s.order.Limit != 0 {
		job.Limit = s.order.Limit
	}
	return nil
}
