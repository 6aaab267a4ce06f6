package scontrol

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/hostlist"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// inSeconds has scontrol tell times in Unix seconds.
const inSeconds = "SLURM_TIME_FORMAT=%s"

// errNoPartitions is the error of a list without partitions, which no Slurm has.
var errNoPartitions = fmt.Errorf("scontrol show partition: it lists none, which it does in no Slurm: %w", slurm.ErrUnavailable)

// Layout returns what slurmctld tells any user of the cluster: partitions, Slurm's reservations,
// licences, and its configuration. The accounting database is not asked: the limits of QOS and
// associations are missing. So are reservations if PrivateData hides them. If it hides partitions,
// that is an error, which wraps slurm.ErrPermission.
func (c *Command) Layout(ctx context.Context) (limits.Cluster, error) {
	cluster := limits.Cluster{Partitions: make(map[string]limits.Partition), Licenses: make(map[string]limits.License)}
	config, err := c.Config(ctx)
	if err != nil {
		return cluster, err
	}
	partitions, err := c.run(ctx, "--all", "--oneliner", "show", "partition")
	switch {
	case err == nil:
	case denied(err):
		return cluster, fmt.Errorf("the partitions are hidden from you (PrivateData=partitions), and without them nothing can be forecast: %w: %w", slurm.ErrPermission, err)
	default:
		return cluster, err
	}
	for r := range records(partitions) {
		p, err := r.partition()
		if err != nil {
			return cluster, fmt.Errorf("scontrol show partition: %w", err)
		}
		cluster.Partitions[p.Name] = p
	}
	if len(cluster.Partitions) == 0 {
		return cluster, errNoPartitions
	}
	reservations, err := c.runIn(ctx, []string{inSeconds}, "--oneliner", "show", "reservation")
	if err != nil && !denied(err) {
		return cluster, err
	}
	if cluster.Reservations, err = parseReservations(reservations); err != nil {
		return cluster, fmt.Errorf("scontrol show reservation: %w", err)
	}
	licenses, err := c.run(ctx, "--oneliner", "show", "licenses")
	if err != nil {
		return cluster, err
	}
	for r := range records(licenses) {
		if name := r["LicenseName"]; name != "" {
			cluster.Licenses[name] = limits.License{Total: r.number("Total"), Used: r.number("Used") + r.number("Reserved"), Kept: r.number("LastDeficit")}
		}
	}
	cluster.Name = config.ClusterName
	config.apply(&cluster)
	cluster.AssociationsEnforced, cluster.QOSEnforced = false, false
	completePartitions(&cluster, partitions, config)
	return cluster, completeReservations(&cluster, reservations)
}

// denied reports whether Slurm does not let the user see what she has asked for.
func denied(err error) bool { return strings.Contains(err.Error(), "Access/permission denied") }

// partition returns a partition, without what completePartitions adds.
func (r record) partition() (limits.Partition, error) {
	p := limits.Partition{
		Name: r["PartitionName"], MaxNodes: r.most("MaxNodes"), MinNodes: r.number("MinNodes"), TotalCPUs: r.number("TotalCPUs"), QOS: r.word("QoS"),
		AllowAccounts: r.names("AllowAccounts"), DenyAccounts: r.names("DenyAccounts"), AllowQOS: r.names("AllowQos"), DenyQOS: r.names("DenyQos"),
	}
	if p.Name == "" {
		return p, errors.New("a line without PartitionName")
	}
	var err error
	if p.MaxTime, err = r.longest("MaxTime"); err != nil {
		return p, fmt.Errorf("partition %s: MaxTime: %w", p.Name, err)
	}
	if p.DefaultTime, err = r.longest("DefaultTime"); err != nil {
		return p, fmt.Errorf("partition %s: DefaultTime: %w", p.Name, err)
	}
	if p.Nodes, err = hostlist.Expand(r.word("Nodes")); err != nil {
		return p, fmt.Errorf("partition %s: %w", p.Name, err)
	}
	if p.BillingWeights, err = slurm.ParseWeights(r.word("TRESBillingWeights")); err != nil {
		return p, fmt.Errorf("partition %s: %w", p.Name, err)
	}
	return p, nil
}

// parseReservations reads Slurm's reservations without their cores. Their times are Unix seconds.
func parseReservations(out []byte) (limits.Reservations, error) {
	var all limits.Reservations
	for r := range records(out) {
		name := r["ReservationName"]
		if name == "" {
			continue // "No reservations in the system"
		}
		nodes, err := hostlist.Expand(r.word("Nodes"))
		if err != nil {
			return nil, fmt.Errorf("reservation %s: %w", name, err)
		}
		flags := r.names("Flags")
		v := limits.Reservation{
			Name: name, Start: r.number("StartTime"), End: r.number("EndTime"), Nodes: nodes, Licenses: r.word("Licenses"),
			Maintenance: slices.Contains(flags, "MAINT"), Floats: slices.Contains(flags, "TIME_FLOAT"), Flex: slices.Contains(flags, "FLEX"),
			Users: r.names("Users"), Accounts: r.names("Accounts"),
		}
		if v.Start <= 0 || v.End <= 0 {
			return nil, fmt.Errorf("reservation %s: bad times %.40q and %.40q", name, r["StartTime"], r["EndTime"])
		}
		for i, flag := range []string{"HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY"} {
			if slices.Contains(flags, flag) {
				v.Repeats = []limits.Repeats{limits.Hourly, limits.Daily, limits.Weekdays, limits.Weekends, limits.Weekly}[i]
				break
			}
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b limits.Reservation) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// word returns a value, or "" if Slurm writes that there is none.
func (r record) word(key string) string {
	switch v := r[key]; v {
	case none, "N/A", "NONE":
		return ""
	default:
		return v
	}
}

// names returns the names in a list, or nil if it is empty, or has all.
func (r record) names(key string) []string {
	v := r.word(key)
	if v == "" || v == "ALL" {
		return nil
	}
	return strings.Split(v, ",")
}

// number returns a number, or 0 if there is none.
func (r record) number(key string) int64 {
	n, err := strconv.ParseInt(r[key], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// most returns a number that bounds something, or limits.None.
func (r record) most(key string) int64 {
	if n, err := strconv.ParseInt(r[key], 10, 64); err == nil {
		return n
	}
	return limits.None
}

// longest returns a time in seconds, or limits.None.
func (r record) longest(key string) (int64, error) {
	text := r.word(key)
	if text == "" {
		return limits.None, nil
	}
	seconds, err := slurmtime.ParseDuration(text)
	if seconds == slurmtime.Unlimited {
		return limits.None, nil
	}
	return seconds, err
}
