// Package limits knows what a cluster forbids: how long and how large a job may be in a partition,
// under a QOS and an association, and which nodes Slurm's own reservations keep. The job of a
// reservation of varq must be longer than its work. So the job may exceed limits that the work
// alone would not exceed.
//
// A Cluster has what Slurm's configuration and accounting say. A Job says what that means for one
// job.
package limits

import (
	"time"

	"github.com/varq-project/varq/predictor/workload"
)

// None stands for a limit that is not set.
const None int64 = -1

// Cluster is everything a cluster's configuration and accounting database say
// that can keep a job from starting.
type Cluster struct {
	// Name is Slurm's ClusterName, empty where it is not known.
	Name string
	// Federated is true if other clusters of a federation start jobs that are submitted here,
	// unless sbatch --clusters names this one.
	Federated bool

	Partitions map[string]Partition
	// QOS and Associations are nil where they are not known.
	QOS          map[string]QOS
	Associations Associations
	Reservations Reservations
	// Nodes are all nodes by name, and Licenses all licences by name; nil where they are not known.
	Nodes    map[string]Node
	Licenses map[string]License
	// QOSEnforced is true when a job must have a QOS of its association's (Slurm's
	// AccountingStorageEnforce).
	QOSEnforced bool
	// AssociationsEnforced is true when only users with an association may submit
	// jobs (Slurm's AccountingStorageEnforce).
	AssociationsEnforced bool
	// MaxTRES is true when billing takes the largest weighted TRES and not
	// their sum (Slurm's PriorityFlags=MAX_TRES).
	MaxTRES bool
	// Aging is how the priorities of jobs that wait grow; it adds nothing where that is not known.
	Aging workload.Aging
	// Basic is true when a job's priority tells no more than how many were submitted before it
	// (Slurm's PriorityType=priority/basic).
	Basic bool
	// Strict is true when the jobs of a partition start in their order, so that none fills a hole
	// before one that waits for more (SchedulerType=sched/builtin).
	Strict bool
	// EachPartition is true when a job that may run in several partitions must be within the limits
	// of each (EnforcePartLimits=ALL).
	EachPartition bool
	// SubmitPlugins are those of Slurm's JobSubmitPlugins, without "job_submit/": they may change a
	// job while it is submitted.
	SubmitPlugins []string
	// PrivateNodes is true when only operators may see the nodes (Slurm's PrivateData=nodes).
	PrivateNodes bool
	// PrivateJobs is true when only operators may see the jobs of others (PrivateData=jobs).
	PrivateJobs bool
	// PrivateEvents is true when only operators may see when nodes were down or drained (Slurm's
	// PrivateData=events).
	PrivateEvents bool
	// Zone is that of Slurm's controller, in which sentences tell times, or nil where it is not
	// known. Repeat sets it.
	Zone *time.Location
}

// Partition is one partition's limits and the weights of its billing.
type Partition struct {
	Name        string
	Default     bool
	Up          bool
	State       string // of one that is not up, as Slurm writes it ("DRAIN"), where known
	MaxTime     int64  // seconds, or None
	DefaultTime int64  // seconds, or None
	MaxNodes    int64  // per job, or None
	MinNodes    int64  // per job, or 0
	Nodes       []string
	TotalCPUs   int64
	QOS         string // the partition's own QOS, may be empty
	// Tier is Slurm's PriorityTier: jobs in a partition of a higher one go first, whatever their
	// priorities. It is 0 where that is not known.
	Tier int64
	// Resume is how long, in seconds, a node may take to be up that Slurm had powered down, or 0 if
	// it powers none down.
	Resume int64
	// WholeNodes is true if jobs share no nodes here, and have all CPUs of theirs.
	WholeNodes bool
	// UserNodes is true if jobs of different users share no nodes here (Slurm's ExclusiveUser).
	// Jobs are planned as if they shared none, though several of one user may be on a node.
	UserNodes bool
	// Segments is true if jobs share no part of the network here (Slurm's ExclusiveTopo).
	Segments bool
	// Overcommits is true if a job may start here though other jobs have all processors: jobs
	// may share them, or give way.
	Overcommits bool
	// Preempted is what Slurm does to a job here if one of a partition of a higher tier needs its
	// nodes, as PreemptMode ("REQUEUE"). It is empty if none may take them.
	Preempted string
	// ConsumableMemory is true if jobs here have their memory for themselves, so that a node can
	// run out of it.
	ConsumableMemory bool
	Memory
	// The accounts and QOS to which the partition is open or closed; see the parameters of
	// the same names in slurm.conf.
	AllowAccounts, DenyAccounts, AllowQOS, DenyQOS []string
	// BillingWeights maps a TRES ("cpu", "mem" per MiB, "node", "gres/gpu") to
	// billing units; nil means Slurm's default, one unit a CPU.
	BillingWeights map[string]float64
}

// Memory says what memory jobs have, and so what they are charged.
type Memory struct {
	// DefMemPerCPU and DefMemPerNode are the memory of a job that does not say how much it needs,
	// and MaxMemPerCPU is how much a CPU may have before a job gets more CPUs; MiB, 0 where not
	// set. A job that asks for more than MaxMemPerNode of a node never starts. Slurm
	// takes a Def for a CPU or for a node, not both, and so a Max.
	DefMemPerCPU, DefMemPerNode, MaxMemPerCPU, MaxMemPerNode int64
	// GPUDefaults is true if a job gets CPUs or memory with its GPUs (JobDefaults).
	GPUDefaults bool
}

// Node is one node.
type Node struct {
	Name     string
	CPUs     int64
	Threads  int64 // CPUs of a core, or 0 if not known
	Memory   int64 // MiB
	Tmp      int64 // temporary disk, MiB
	Features []string
	// Gres counts generic resources, of all types by name ("gpu") and of each type ("gpu:a100").
	Gres map[string]int64
	// Usable is false while the node is down or takes no new jobs, and Drained is true if it takes
	// none but is not down.
	Usable, Drained bool
	// Awake is true while no job runs on the node, and it is not powered down.
	Awake bool
}

// TRES counts by name, as Slurm writes them: "cpu", "mem" (MiB), "node",
// "billing", "gres/gpu".
type TRES map[string]int64

// JobLimits are the limits that both a QOS and an association can set.
type JobLimits struct {
	MaxWall        int64 // longest time limit, seconds, or None
	MaxTRES        TRES  // largest job
	MaxTRESPerNode TRES  // largest job, TRES of a node on average, rounded down
	MaxTRESMins    TRES  // largest job, TRES x minutes of its time limit
	GrpTRESMins    TRES  // all jobs ever, TRES x minutes
	UsedTRESMins   TRES  // how much of GrpTRESMins is used, where known
	GrpTRESRunMins TRES  // all running jobs, TRES x minutes that are left of their time limits
	GrpTRES        TRES  // all running jobs
	MinTRES        TRES  // smallest job
	// PerUser and PerAccount are what the jobs of one user, or of one account, may have at once.
	// Group is the same of all jobs, without TRES, which are GrpTRES.
	PerUser, PerAccount, Group Share
}

// Share is what several jobs may have at once, together. nil stands for a limit that is not set.
type Share struct {
	TRES      TRES   // of the running jobs
	Jobs      *int64 // running
	Submitted *int64 // running or waiting
}

// QOS is one quality of service. The flags are Slurm's, by their own names.
type QOS struct {
	Name               string
	OverPartQOS        bool // its limits take precedence over those of the partition's QOS
	PartitionTimeLimit bool // its jobs may exceed the partition's MaxTime
	PartitionMaxNodes  bool // its jobs may exceed the partition's MaxNodes
	PartitionMinNodes  bool // its jobs may stay below the partition's MinNodes
	// UsageFactor is how many times the usage of its jobs counts; 0 counts as once.
	UsageFactor float64
	JobLimits
}

// Association ties a user (or, with User empty, a whole account) to limits.
// Unset limits are inherited from the parent account.
type Association struct {
	// Cluster is empty where it is not known.
	Cluster                  string
	Account, User, Partition string
	Parent                   string // parent account
	Default                  bool   // the user's default account
	DefaultQOS               string
	QOS                      []string
	JobLimits
}

// Span is a stretch of time, Unix seconds: Start included and End not.
type Span struct{ Start, End int64 }

// Reservation is one of Slurm's own reservations. From Start to End (Unix seconds) its nodes run
// only jobs that ask for it by name, from the users and accounts that it admits.
type Reservation struct {
	Name       string
	Start, End int64
	Nodes      []string
	// Cores counts the cores that it has of each of its nodes, by name. Jobs may have the others.
	// It is nil if the reservation has its nodes whole, or where that is not known.
	Cores map[string]int64
	// Licenses are those that it has, as Slurm writes them.
	Licenses string
	// Repeats is how often the reservation comes again, and Again when it does, in order of time;
	// see Repeat.
	Repeats Repeats
	Again   []Span
	// Floats is true if Start moves on with the time, always as far ahead (Slurm's TIME_FLOAT), and
	// Ahead is how far, in seconds; see Repeat. No job with a longer time limit starts on its
	// nodes.
	Floats      bool
	Ahead       int64
	Maintenance bool
	// Flex is true if jobs of the reservation may also start outside of it, and before it begins.
	Flex bool
	// Hidden is true if only operators may see it (Slurm's PrivateData=reservations). No sentence
	// names it.
	Hidden   bool
	Users    []string
	Accounts []string
}
