package scontrol

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/hostlist"
)

// Power is how Slurm powers nodes down that nobody needs.
type Power struct {
	// Down is whether it does anywhere: whether there is a program for that (SuspendProgram).
	Down bool
	// PowerTimes are those of nodes of which no partition sets them.
	PowerTimes
	// KeptParts are the partitions whose nodes stay up (SuspendExcParts), and KeptNodes the nodes
	// that do (SuspendExcNodes), a hostlist. Of "node[1-9]:4" some four stay up, so that it keeps
	// no node for certain.
	KeptParts []string
	KeptNodes string
}

// PowerTimes are times in seconds. They are never where Slurm says INFINITE, and 0 where it says
// nothing.
type PowerTimes struct {
	Idle   int64 // after which an idle node is powered down (SuspendTime)
	Resume int64 // after which it is up again, at most (ResumeTimeout)
}

const never = math.MaxInt64

func (r record) power() Power {
	p := Power{Down: r["SuspendProgram"] != "" && r["SuspendProgram"] != none, PowerTimes: r.powerTimes()}
	if v := r["SuspendExcParts"]; v != "" && v != none {
		p.KeptParts = strings.Split(v, ",")
	}
	if v := r["SuspendExcNodes"]; v != none && !strings.Contains(v, ":") {
		p.KeptNodes = v
	}
	return p
}

// none is what Slurm writes for what is not set.
const none = "(null)"

// powerTimes reads the times of the site, or of a partition, which has GLOBAL where it sets none.
// "300 sec" is a time of the site.
func (r record) powerTimes() PowerTimes {
	seconds := func(key string) int64 {
		number, _, _ := strings.Cut(r[key], " ")
		switch n, err := strconv.ParseInt(number, 10, 64); {
		case number == "INFINITE" || strings.EqualFold(number, "NONE"):
			return never
		case err == nil && n >= 0:
			return n
		}
		return 0
	}
	return PowerTimes{Idle: seconds("SuspendTime"), Resume: seconds("ResumeTimeout")}
}

// complete fills in how long nodes of partitions may take to be up, given the times that partitions
// set. Of the partitions of a node the longest times count.
func (p *Power) complete(cluster *limits.Cluster, times map[string]PowerTimes) {
	if !p.Down {
		return
	}
	nodes := map[string]PowerTimes{}
	for name, part := range cluster.Partitions {
		own := times[name]
		for _, node := range part.Nodes {
			nodes[node] = PowerTimes{max(nodes[node].Idle, own.Idle), max(nodes[node].Resume, own.Resume)}
		}
	}
	// of a list that cannot be read no node is known to stay up
	kept, _ := hostlist.Expand(p.KeptNodes)
	for _, name := range p.KeptParts {
		kept = append(kept, cluster.Partitions[name].Nodes...)
	}
	for _, node := range kept {
		nodes[node] = PowerTimes{Idle: never}
	}
	for name, part := range cluster.Partitions {
		for _, node := range part.Nodes {
			if t := nodes[node]; cmp.Or(t.Idle, p.Idle) != never {
				part.Resume = max(part.Resume, cmp.Or(t.Resume, p.Resume))
			}
		}
		cluster.Partitions[name] = part
	}
}
