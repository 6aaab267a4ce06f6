package filter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/dependency"
	"github.com/varq-project/varq/predictor/slurm/jobsize"
	"github.com/varq-project/varq/predictor/slurm/slurmconf"
	"github.com/varq-project/varq/predictor/slurm/squeue"
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
	// Quiet is true if varq prints nothing unless something fails or is refused.
	Quiet bool
	// Waits is true if the command waits until its job starts, as srun and salloc do.
	Waits bool
	// settles is true if what is promised is known only once varqd has seen the job as Slurm has
	// accepted it.
	settles bool
	// Early is true if the command may tell its job before that has started, as salloc does.
	Early bool

	now   int64 // when the command was given, Unix seconds
	zone  *time.Location
	order *sbatch.Order // nil if none of varq's commands runs the command
	line  line          // the command line
	notes []string      // what the user is told of options that give way
	// accounts is the list of --accounts, or empty.
	accounts string
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
	refused := conflicts(o, command, environment, order)
	if strings.HasPrefix(o["nice"], "-") {
		delete(o, "nice") // refused already
	}
	if byReserve(order) {
		for _, name := range window {
			delete(o, ownPrefix+name)
		}
	}
	wrong := errors.Join(s.readPromise(o, environment), s.readJob(o))
	if wrong == nil {
		wrong = s.check(s.Request.Check())
	}
	err = errors.Join(refused, wrong)
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

// check words what is wrong with a request by the options of the command.
func (s *Submission) check(err error) error { return api.ByOption(err, s.time) }

// readPromise reads what is asked about the job's start or end.
func (s *Submission) readPromise(o options, environment []string) error {
	r := &s.Request
	_, r.BestEffort = o.own("best-effort")
	return errors.Join(
		read(o, beginBy, s.start, &r.BeginBy),
		read(o, finishBy, s.deadline, &r.FinishBy),
		read(o, "prob", prob.Parse, &r.Prob),
		read(o, risk, prob.Parse, &r.Risk),
		read(o, beginAfter, s.moment, &r.BeginAfter),
		read(o, "max-cost", api.ParseMaxCost, &r.MaxCost),
		read(o, "on-miss", word, &r.OnMiss),
		read(o, "risky-nodes", word, &r.RiskyNodes),
		read(o, checkpointInterval, api.ParseCheckpointInterval, &r.CheckpointInterval),
		read(o, sizeBy, preferences, &r.Prefer),
		s.readRisk(environment),
	)
}

// moment reads a time.
func (s *Submission) moment(text string) (int64, error) {
	return slurmtime.Parse(text, s.now, s.zone)
}

// start reads the deadline of a start: a time, or that at which the time limit of a job ends.
func (s *Submission) start(text string) (int64, error) {
	if job, named := strings.CutPrefix(text, squeue.EndOf); named {
		var slurm squeue.Command
		return slurm.EndOf(job)
	}
	return s.deadline(text)
}

// deadline reads a time that is still to come.
func (s *Submission) deadline(text string) (int64, error) {
	at, err := s.moment(text)
	if err == nil && at <= s.now {
		err = fmt.Errorf("%s is in the past", s.time(at))
	}
	return at, err
}

// accounts is the option that names several accounts, one of which is to pay.
const accounts = "accounts"

// list reads names with commas between them.
func list(text string) (string, error) {
	if slices.Contains(strings.Split(text, ","), "") {
		return "", fmt.Errorf("%.40q has an empty name", text)
	}
	return text, nil
}

// tasksOption is the option that says how many tasks of an array are to run.
const tasksOption = "tasks"

// readArray reads how many tasks a job array has, and how many of them are to run.
func (s *Submission) readArray(o options) error {
	r := &s.Request
	list, given := o["array"]
	if given {
		r.Array.Tasks, r.Array.AtOnce = slurm.CountTasks(list)
	}
	return read(o, tasksOption, func(text string) (int32, error) {
		if !given {
			return 0, errors.New("it says how many tasks of a job array are to run, and there is no --array; Slurm's option is --ntasks-per-node, or --ntasks")
		}
		return r.Array.ParseTasks(text)
	}, &r.Tasks)
}

// readDependency reads what the job is to wait for. Its name counts only for that.
func (s *Submission) readDependency(o options) error {
	r := &s.Request
	r.Dependency = o["dependency"]
	d, err := dependency.Parse(r.Dependency)
	if err != nil || !d.Singleton() {
		return err
	}
	if r.Name = o["job-name"]; r.Name == "" {
		return errors.New(dependency.Nameless)
	}
	return nil
}

// readJob reads the job's request from Slurm's options. varqd fills in the defaults.
func (s *Submission) readJob(o options) error {
	job := &s.Request.Job
	job.Account, job.Partition, job.QOS = o["account"], o["partition"], o["qos"]
	if err := read(o, accounts, list, &s.accounts); err != nil {
		return err
	}
	if s.order != nil && (s.accounts != "" || strings.Contains(job.QOS, ",")) {
		return errors.New("varq reserve, varq every and varq chain take one account and one QOS: name them with --account and --qos")
	}
	job.Account = cmp.Or(s.accounts, job.Account) // many have an account in their environment
	if s.order != nil {
		s.Request.Tentative, s.Request.Group, s.Request.Home, s.Request.GroupProb = s.order.Tentative, s.order.Group, s.order.Home, s.order.GroupProb
		job.Partition = cmp.Or(s.order.Partition, job.Partition)
	}
	nice, err := o.number("nice")
	if err != nil {
		return err
	}
	job.Nice = int64(nice)
	if err := s.readArray(o); err != nil {
		return err
	}
	if err := s.readDependency(o); err != nil {
		return fmt.Errorf("--dependency: %w", err)
	}
	size, err := o.size()
	if err != nil {
		return err
	}
	if _, given := o.own(sizes); given {
		return s.readSizes(o, size)
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
		if job.Limit, err = jobsize.Limit(limit); err != nil {
			return fmt.Errorf("--time: %w", err)
		}
	}
	if s.order != nil && s.order.Limit != 0 {
		job.Limit = s.order.Limit
	}
	return nil
}
