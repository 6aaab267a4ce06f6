package squeue

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/engine"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// line is a job as squeue shows it, by the names of fields.
type line map[string]string

// entry returns the job.
func (l line) entry() (slurm.QueueEntry, error) {
	e := slurm.QueueEntry{
		Job: workload.Job{
			ID: l.number("JobID"),
			Request: workload.Request{
				User: l["UserName"], Account: l["Account"], Partition: l["Partition"], QOS: l["QOS"], Reservation: l["Reservation"], Nice: l.number("Nice"),
			},
			Submit: l.number("SubmitTime"), Eligible: l.number("EligibleTime"), State: slurm.ParseState(l["State"]),
			Array: l.array(), On: nodes(l["NodeList"]), Series: workload.SeriesOf(l["Name"]),
		},
		Name: l["Name"], Engine: engine.Of(l["Name"], l["Comment"], l["WorkDir"]), Reason: l["Reason"], Dependency: l["Dependency"],
		Features: l["Feature"], NodeList: l["ReqNodes"], Excluded: l["ExcNodes"],
		ArrayJob: l.array(), HetJob: l.number("HetJobID"), RestartCount: int(l.number("RestartCnt")),
		Exclusive:   l.exclusive(),
		Interactive: l["BatchFlag"] == "0",
		Suspended:   l["State"] == "SUSPENDED",
		Completing:  l["State"] == "COMPLETING",
	}
	switch {
	case e.ID <= 0:
		return e, fmt.Errorf("bad job id %.20q", l["JobID"])
	case e.Submit <= 0:
		return e, fmt.Errorf("bad time of submission %.30q", l["SubmitTime"])
	}
	var err error
	if e.Limit, err = limit(l["TimeLimit"]); err != nil {
		return e, err
	}
	if e.ArrayJob != 0 {
		e.ArrayTasks = l["ArrayTaskID"]
	}
	// An unreadable list counts as empty, so that one job does not hide the others.
	tres, _ := slurm.ParseTRES(l["tres-alloc"])
	l.size(&e, tres)
	e.Needs = l.needs(tres)
	if e.GPUs == 0 { // Slurm may not count them
		e.GPUs = gpus(e.Needs, e.Nodes)
	}
	l.state(&e)
	return e, nil
}

// size sets what a job has, or asks for in all.
func (l line) size(e *slurm.QueueEntry, tres limits.TRES) {
	e.Size = slurm.SizeOf(tres)
	if e.Nodes == 0 {
		e.Nodes = small(l.number("NumNodes"))
	}
	if e.CPUs == 0 {
		e.CPUs = small(l.number("NumCPUs"))
	}
}

// state sets what follows from whether a job waits.
func (l line) state(e *slurm.QueueEntry) {
	if e.Waking = l["State"] == "CONFIGURING" || l["State"] == "POWER_UP_NODE"; e.Waking {
		e.State = workload.Pending
	}
	if e.State == workload.Requeued { // it will be pending in a moment
		e.State = workload.Pending
	}
	if e.State != workload.Pending {
		e.Start, e.Given = l.number("StartTime"), e.CPUs
		return
	}
	priority := l.number("PriorityLong")
	e.Priority, e.Expected = priority, l.number("StartTime")
	e.SetEligible()
	if e.ArrayJob != 0 {
		e.Tasks, e.AtOnce = slurm.CountTasks(e.ArrayTasks)
	}
	e.SetAtLimit()
	e.QOSFull = slurm.QOSFull(e.Reason)
	switch {
	case priority != 0 || l["PriorityLong"] == "":
	case e.Reason == "JobHeldUser" || e.Reason == "job_requeued_in_held_state":
		e.Held = true
	default:
		e.Stopped = e.Reason
	}
}

// exclusive reports whether the job shares its nodes with no other, or with few. Before Slurm 26.05
// that is how it shares them.
func (l line) exclusive() bool {
	if with := l["Exclusive"]; with != "" {
		return with != "NO"
	}
	return slices.Contains([]string{"NO", "USER", "MCS", "TOPO"}, l["OverSubscribe"])
}

// array returns the number of the array that the job is of, or 0.
func (l line) array() int64 {
	if l["ArrayTaskID"] == "" {
		return 0
	}
	return l.number("ArrayJobID")
}

// needs returns what the job needs of its nodes, given the resources that it asks for in all.
func (l line) needs(tres limits.TRES) *workload.Needs {
	cpus := max(1, l.number("MinCpus"))
	if n := l.number("cpus-per-task"); n < notSet {
		cpus = max(cpus, n)
	}
	n := &workload.Needs{
		Constraint: l["Feature"],
		NodeList:   named("--nodelist", l["ReqNodes"]),
		Exclude:    named("--exclude", l["ExcNodes"]),
		NodeCPUs:   need(cpus, "--cpus-per-task"),
		NodeTmp:    need(mebibytes(l["MinTmpDisk"]), "--tmp"),
		Gres:       slurm.AskedGres(l["tres-per-node"], true),
		Licenses:   l["Licenses"],
	}
	// Whether the memory is that of each node or of each CPU squeue does not say, but all of it.
	memory := mebibytes(l["MinMemory"])
	if all := tres["mem"]; all == memory*tres["cpu"] && all != memory*tres["node"] {
		n.NodeMemory = need(cpus*memory, "--mem-per-cpu")
	} else {
		n.NodeMemory = need(memory, "--mem")
	}
	if len(n.Gres) == 0 {
		n.Gres = slurm.AskedGres(l["tres-per-job"], false)
	}
	if len(n.Gres) == 0 {
		n.Gres = slurm.AskedGres(l["tres-per-task"], false)
		for i := range n.Gres {
			n.Gres[i].Count *= max(1, l.number("NumTasks"))
		}
	}
	return n
}

// notSet is what Slurm writes for some small numbers that are not set, or more.
const notSet = 0xfffe

// number returns a number, or the least one of a range ("2-4"), or 0 if it cannot be read.
func (l line) number(field string) int64 {
	text := l[field]
	if i := strings.LastIndexByte(text, '-'); i > 0 {
		text = text[:i]
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// limit returns a time limit in seconds, 0 if it is not known or is the partition's.
func limit(text string) (int64, error) {
	switch strings.ToUpper(text) {
	case "", "NOT_SET", "PARTITION_LIMIT", "INVALID":
		return 0, nil
	}
	seconds, err := slurmtime.ParseDuration(text)
	if err == nil && seconds == slurmtime.Unlimited {
		seconds = slurm.UnlimitedTime
	}
	return seconds, err
}

// mebibytes reads "4000M" or "4G", and a number without a unit as MiB; what cannot be read is 0.
func mebibytes(text string) int64 {
	tres, err := slurm.ParseTRES("mem=" + text)
	if err != nil {
		return 0
	}
	return tres["mem"]
}

// need returns the need of an amount that each node must have: none if it is 0.
func need(amount int64, option string) workload.NodeNeed {
	if amount <= 0 {
		return workload.NodeNeed{}
	}
	return workload.NodeNeed{Amount: amount, Option: option}
}

// nodes returns the names in a list of nodes, or none if it cannot be read.
func nodes(list string) []string {
	names, err := hostlist.Expand(list)
	if err != nil {
		return nil
	}
	return names
}

// named returns the nodes of an option.
func named(option, list string) workload.NamedNodes {
	names := nodes(list)
	if len(names) == 0 {
		return workload.NamedNodes{}
	}
	return workload.NamedNodes{Names: names, Option: option + "=" + list}
}

// gpus returns how many GPUs a job of so many nodes asks for.
func gpus(n *workload.Needs, nodes int32) int32 {
	all := int64(0)
	for _, g := range n.Gres {
		switch {
		case g.Name != "gpu":
		case g.PerNode:
			all += g.Count * int64(max(1, nodes))
		default:
			all += g.Count
		}
	}
	return small(all)
}

func small(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }
