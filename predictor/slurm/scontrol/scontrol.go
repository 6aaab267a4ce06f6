// Package scontrol runs Slurm's scontrol command. It reads the facts about a cluster that some
// versions of the REST API lack. It makes the changes of jobs that some versions reject.
package scontrol

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/program"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/workload"
)

// Command runs scontrol. The zero value runs the one on the PATH.
type Command struct {
	Path string         // of scontrol, "scontrol" if empty
	Env  []string       // added to the environment, SLURM_CONF=... for instance
	Run  program.Runner // program.Output if nil
}

// Config is what varq needs of a running slurmctld's configuration.
type Config struct {
	ClusterName string
	SlurmUser   string
	// MaxTRES, Aging, Basic: see limits.Cluster.
	MaxTRES bool
	Aging   workload.Aging
	Basic   bool
	// Private has the forms of PrivateData, as Slurm writes them: "jobs", "nodes".
	Private []string
	// EachPartition: see limits.Cluster.
	EachPartition bool
	// LimitsEnforced is false when AccountingStorageEnforce lets jobs exceed
	// the limits of their QOS and association.
	LimitsEnforced bool
	// AssociationsEnforced and QOSEnforced: see limits.Cluster.
	AssociationsEnforced, QOSEnforced bool
	// File is the path of slurm.conf, and PlugStack that of plugstack.conf.
	File, PlugStack string
	// PluginDir has the folders of plugins, with colons between them.
	PluginDir string
	// WholeNodes is true if no job shares its nodes anywhere (SelectType=select/linear).
	WholeNodes bool
	// Overcommits is true if jobs may start anywhere though others have all processors: others are
	// preempted, or processors are not what Slurm counts (SelectTypeParameters).
	Overcommits bool
	// Tiers is true if jobs preempt those of partitions of a lower tier, and of no others
	// (PreemptType=preempt/partition_prio).
	Tiers bool
	// Strict: see limits.Cluster.
	Strict bool
	// ConsumableMemory is true if jobs have their memory for themselves.
	ConsumableMemory bool
	// Memory holds for the partitions that do not set it.
	Memory limits.Memory
	// Power is how it powers nodes down.
	Power Power
	// CLIFilters are the plugins of CliFilterPlugins, without "cli_filter/".
	CLIFilters []string
	// SubmitPlugins: see limits.Cluster.
	SubmitPlugins []string
}

// Config reads the configuration.
func (c *Command) Config(ctx context.Context) (Config, error) {
	out, err := c.run(ctx, "show", "config")
	if err != nil {
		return Config{}, err
	}
	return parseConfig(out), nil
}

// Complete fills in what slurmrestd.Client.Cluster leaves out: the cluster's name, whether it is in
// a federation, the default partition, whether each partition is up, shares its nodes and
// overcommits them, what memory jobs have there, MaxTRES, the order of its queue, what is private
// and what is enforced, the cores of reservations, and the group limits in TRES minutes with their
// usage. It removes the associations of other clusters that have the same slurmdbd. If Slurm does
// not enforce the limits of QOS and associations, Complete removes them.
func (c *Command) Complete(ctx context.Context, cluster *limits.Cluster) error {
	config, err := c.Config(ctx)
	if err != nil {
		return err
	}
	partitions, err := c.run(ctx, "--oneliner", "show", "partition")
	if err != nil {
		return err
	}
	manager, err := c.run(ctx, "--oneliner", "show", "assoc_mgr", "flags=qos,assoc")
	if err != nil {
		return err
	}
	federation, err := c.run(ctx, "show", "federation")
	if err != nil {
		return err
	}
	if len(cluster.Reservations) > 0 {
		reservations, err := c.run(ctx, "--oneliner", "show", "reservation")
		if err != nil {
			return err
		}
		if err := completeReservations(cluster, reservations); err != nil {
			return err
		}
	}
	cluster.Name, cluster.Federated = config.ClusterName, bytes.Contains(federation, []byte("Federation:"))
	dropOthers(cluster)
	config.apply(cluster)
	completePartitions(cluster, partitions, config)
	if err := completeGroups(cluster, manager); err != nil {
		return err
	}
	if !config.LimitsEnforced {
		dropLimits(cluster)
	}
	return nil
}

// apply fills in what the configuration says of the whole cluster.
func (c *Config) apply(cluster *limits.Cluster) {
	cluster.MaxTRES = c.MaxTRES
	cluster.PrivateJobs = slices.Contains(c.Private, "jobs")
	cluster.PrivateNodes, cluster.PrivateEvents = slices.Contains(c.Private, "nodes"), slices.Contains(c.Private, "events")
	for i := range cluster.Reservations {
		cluster.Reservations[i].Hidden = slices.Contains(c.Private, "reservations")
	}
	cluster.Aging, cluster.Basic, cluster.SubmitPlugins = c.Aging, c.Basic, c.SubmitPlugins
	cluster.AssociationsEnforced, cluster.QOSEnforced = c.AssociationsEnforced, c.QOSEnforced
	cluster.Strict, cluster.EachPartition = c.Strict, c.EachPartition
}

func (c *Command) run(ctx context.Context, args ...string) ([]byte, error) {
	return c.runIn(ctx, nil, args...)
}

// runIn is run with more in the environment.
func (c *Command) runIn(ctx context.Context, env []string, args ...string) ([]byte, error) {
	run := c.Run
	if run == nil {
		run = program.Output
	}
	return run(ctx, cmp.Or(c.Path, "scontrol"), slices.Concat(c.Env, env), args...)
}

// parseConfig reads lines of "Key = Value".
func parseConfig(out []byte) Config {
	var config Config
	memory, power, preempt := record{}, record{}, record{}
	for key, value := range settings(out) {
		values := strings.Split(strings.ToLower(value), ",")
		switch key {
		case "ClusterName":
			config.ClusterName = value
		case "SLURM_CONF":
			config.File = value
		case "PlugStackConfig":
			config.PlugStack = value
		case "PluginDir":
			config.PluginDir = value
		case "CliFilterPlugins":
			for _, plugin := range values {
				config.CLIFilters = append(config.CLIFilters, strings.TrimPrefix(plugin, "cli_filter/"))
			}
		case "JobSubmitPlugins":
			for _, plugin := range values {
				if plugin != "" && plugin != "(null)" {
					config.SubmitPlugins = append(config.SubmitPlugins, strings.TrimPrefix(plugin, "job_submit/"))
				}
			}
		case "SlurmUser":
			config.SlurmUser, _, _ = strings.Cut(value, "(")
		case "SuspendProgram", "SuspendTime", "ResumeTimeout", "SuspendExcParts", "SuspendExcNodes":
			power[key] = value
		case "SelectType":
			config.WholeNodes = value == "select/linear"
		case "PreemptMode", "PreemptType":
			preempt[key] = value
		case "SchedulerType":
			config.Strict = value == "sched/builtin"
		case "EnforcePartLimits":
			config.EachPartition = value == "ALL"
		case "SelectTypeParameters":
			config.Overcommits = config.Overcommits || slices.Contains(values, "cr_memory")
			config.ConsumableMemory = slices.ContainsFunc(values, func(v string) bool { return strings.HasSuffix(v, "_memory") })
		case "DefMemPerCPU", "DefMemPerNode", "MaxMemPerCPU", "MaxMemPerNode", "JobDefaults":
			memory[key] = value
		case "PrivateData":
			if value != "none" && value != none {
				config.Private = values
			}
		case "PriorityFlags":
			config.MaxTRES = slices.Contains(values, "max_tres")
			config.Aging.Always = slices.Contains(values, "accrue_always")
		case "PriorityType":
			config.Basic = value == "priority/basic"
		case "PriorityWeightAge":
			config.Aging.Weight, _ = strconv.ParseInt(value, 10, 64)
		case "PriorityMaxAge":
			config.Aging.Max, _ = slurmtime.ParseDuration(value)
		case "AccountingStorageEnforce":
			config.LimitsEnforced = slices.ContainsFunc(values, func(v string) bool {
				return v == "limits" || v == "safe" || v == "all"
			})
			config.QOSEnforced = slices.Contains(values, "qos") || slices.Contains(values, "all")
			// Each of these implies associations.
			config.AssociationsEnforced = config.LimitsEnforced || slices.ContainsFunc(values, func(v string) bool {
				return v == "associations" || v == "qos" || v == "wckeys"
			})
		}
	}
	if mode := preempt["PreemptMode"]; mode != "" && mode != "OFF" {
		config.Tiers = preempt["PreemptType"] == "preempt/partition_prio" && !strings.Contains(mode, "GANG")
		config.Overcommits = config.Overcommits || !config.Tiers
	}
	config.Memory, config.Power = memory.memory(limits.Memory{}), power.power()
	return config
}

func settings(out []byte) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for line := range strings.Lines(string(out)) {
			key, value, ok := strings.Cut(line, "=")
			if ok && !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

// record is a line of "Key=Value Key=Value". If a key is repeated, for example in a
// comment, its first value counts.
type record map[string]string

func records(out []byte) iter.Seq[record] {
	return func(yield func(record) bool) {
		lines := bufio.NewScanner(bytes.NewReader(out))
		lines.Buffer(nil, len(out)+1)
		for lines.Scan() {
			r := make(record)
			for field := range strings.FieldsSeq(lines.Text()) {
				key, value, ok := strings.Cut(field, "=")
				if _, again := r[key]; ok && !again {
					r[key] = value
				}
			}
			if len(r) > 0 && !yield(r) {
				return
			}
		}
	}
}

func completePartitions(cluster *limits.Cluster, out []byte, config Config) {
	modes, times := map[string]string{}, map[string]PowerTimes{}
	for r := range records(out) {
		if p, ok := cluster.Partitions[r["PartitionName"]]; ok {
			p.Default = r["Default"] == "YES"
			if p.Up = r["State"] == "UP"; !p.Up {
				p.State = r["State"]
			}
			exclusive := r.exclusive()
			p.WholeNodes = config.WholeNodes || exclusive == "NODE"
			p.UserNodes, p.Segments = exclusive == "USER", exclusive == "TOPO"
			p.Overcommits = config.Overcommits || strings.HasPrefix(r["OverSubscribe"], "FORCE") || strings.HasPrefix(r["OverSubscribe"], "YES")
			p.ConsumableMemory = config.ConsumableMemory
			p.Tier, _ = strconv.ParseInt(r["PriorityTier"], 10, 64)
			p.Memory = r.memory(config.Memory)
			cluster.Partitions[p.Name] = p
			modes[p.Name], times[p.Name] = r["PreemptMode"], r.powerTimes()
		}
	}
	config.Power.complete(cluster, times)
	if config.Tiers {
		preempt(cluster, modes)
	}
}

// exclusive returns what jobs of a partition have alone, as Slurm 26.05 writes it: NODE, USER, TOPO
// or NO. Earlier versions have a key for each.
func (r record) exclusive() string {
	switch {
	case r["OverSubscribe"] == "EXCLUSIVE":
		return "NODE"
	case r["ExclusiveUser"] == "YES":
		return "USER"
	case r["ExclusiveTopo"] == "YES":
		return "TOPO"
	}
	return r["Exclusive"]
}

// preempt fills in which partitions preempt the jobs of which, given the PreemptMode of each: those
// of a higher tier, on nodes that both have.
func preempt(cluster *limits.Cluster, modes map[string]string) {
	for name, p := range cluster.Partitions {
		for other, q := range cluster.Partitions {
			if p.Tier == q.Tier || !slices.ContainsFunc(p.Nodes, func(node string) bool { return slices.Contains(q.Nodes, node) }) {
				continue
			}
			if p.Tier > q.Tier {
				p.Overcommits = p.Overcommits || modes[other] != "OFF"
			} else if modes[name] != "OFF" {
				p.Preempted = modes[name]
			}
		}
		cluster.Partitions[name] = p
	}
}

// completeReservations fills in the cores of reservations that do not have their nodes whole: each
// line then has pairs of "NodeName=node1 CoreIDs=0-1".
func completeReservations(cluster *limits.Cluster, out []byte) error {
	cores := make(map[string]map[string]int64)
	for line := range strings.Lines(string(out)) {
		name, node := "", ""
		for field := range strings.FieldsSeq(line) {
			switch key, value, _ := strings.Cut(field, "="); key {
			case "ReservationName":
				name = value
			case "NodeName":
				node = value
			case "CoreIDs":
				n, err := slurm.CountCores(value)
				if err != nil {
					return fmt.Errorf("scontrol show reservation: %s, cores of node %s: %w", name, node, err)
				}
				if cores[name] == nil {
					cores[name] = make(map[string]int64)
				}
				cores[name][node] = n
			}
		}
	}
	for i := range cluster.Reservations {
		v := &cluster.Reservations[i]
		if of, ok := cores[v.Name]; ok {
			v.Cores = of
		}
	}
	return nil
}

// memory returns what a record sets of the memory of jobs, and what site does where it does not.
func (r record) memory(site limits.Memory) limits.Memory {
	mebibytes := func(key string) int64 { // 0 is UNLIMITED, or none
		n, _ := strconv.ParseInt(r[key], 10, 64)
		return max(0, n)
	}
	m := limits.Memory{
		DefMemPerCPU: mebibytes("DefMemPerCPU"), DefMemPerNode: mebibytes("DefMemPerNode"),
		MaxMemPerCPU: mebibytes("MaxMemPerCPU"), MaxMemPerNode: mebibytes("MaxMemPerNode"),
		GPUDefaults: site.GPUDefaults || r["JobDefaults"] != "" && r["JobDefaults"] != none,
	}
	if m.DefMemPerCPU == 0 && m.DefMemPerNode == 0 {
		m.DefMemPerCPU, m.DefMemPerNode = site.DefMemPerCPU, site.DefMemPerNode
	}
	if m.MaxMemPerCPU == 0 && m.MaxMemPerNode == 0 {
		m.MaxMemPerCPU, m.MaxMemPerNode = site.MaxMemPerCPU, site.MaxMemPerNode
	}
	return m
}

// completeGroups fills in group limits and usage from the association manager's records.
func completeGroups(cluster *limits.Cluster, out []byte) error {
	type key struct{ account, user, partition string }
	associations := make(map[key]*limits.Association)
	for i := range cluster.Associations {
		a := &cluster.Associations[i]
		associations[key{a.Account, a.User, a.Partition}] = a
	}
	for r := range records(out) {
		minutes, used, err := parseUsage(r["GrpTRESMins"])
		if err != nil {
			return fmt.Errorf("scontrol show assoc_mgr: %w", err)
		}
		name := withoutID(r["QOS"])
		if q, ok := cluster.QOS[name]; ok {
			q.GrpTRESMins, q.UsedTRESMins = minutes, used
			cluster.QOS[name] = q
		}
		if a, ok := associations[key{r["Account"], withoutID(r["UserName"]), r["Partition"]}]; ok {
			a.GrpTRESMins, a.UsedTRESMins = minutes, used
		}
	}
	return nil
}

// dropOthers removes the associations of other clusters.
func dropOthers(cluster *limits.Cluster) {
	cluster.Associations = slices.DeleteFunc(cluster.Associations, func(a limits.Association) bool {
		return a.Cluster != "" && cluster.Name != "" && a.Cluster != cluster.Name
	})
}

// withoutID turns "alice(1001)" into "alice".
func withoutID(s string) string {
	name, _, _ := strings.Cut(s, "(")
	return name
}

// parseUsage reads a list such as "cpu=900000(123),mem=N(0)": for each TRES the limit, N for
// none, and the usage. Without any limit both results are nil.
func parseUsage(list string) (limit, used limits.TRES, err error) {
	if list == "" {
		return nil, nil, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		name, counts, ok := strings.Cut(item, "=")
		most, usage, parens := strings.Cut(counts, "(")
		usage, closed := strings.CutSuffix(usage, ")")
		if !ok || !parens || !closed {
			return nil, nil, fmt.Errorf("%q: want TRES=LIMIT(USED)", item)
		}
		if most == "N" {
			continue
		}
		n, err := strconv.ParseInt(most, 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%q: bad limit", item)
		}
		u, err := strconv.ParseFloat(usage, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%q: bad usage", item)
		}
		if limit == nil {
			limit, used = make(limits.TRES), make(limits.TRES)
		}
		limit[name], used[name] = n, int64(u)
	}
	return limit, used, nil
}

// dropLimits removes the limits of every QOS and association.
func dropLimits(cluster *limits.Cluster) {
	none := limits.JobLimits{MaxWall: limits.None}
	for name, q := range cluster.QOS {
		q.JobLimits = none
		cluster.QOS[name] = q
	}
	for i := range cluster.Associations {
		cluster.Associations[i].JobLimits = none
	}
}
