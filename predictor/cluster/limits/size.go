package limits

import (
	"fmt"
	"maps"
	"slices"
)

// CheckSize returns the rule that forbids any job as large as this one, or nil if there is none.
// The partition may have too few nodes or CPUs. The partition's MaxNodes or MinNodes may forbid the
// job. So may MaxTRES, MaxTRESPerNode, GrpTRES, MinTRES, or what one user or one account may have
// at once, of a QOS or an association, with the precedence of MaxLimit.
func (j *Job) CheckSize() *Rule {
	p := &j.partition
	partition := "partition " + j.Partition
	switch nodes := int64(j.Nodes); {
	case j.inside != nil && len(j.inside.Nodes) == 0 && j.inside.Licenses != "":
		title := j.inside.title()
		return &Rule{title, title + " has licences alone and no nodes, and varq makes no promises inside of it: leave out --reservation"}
	case nodes > int64(len(p.Nodes)) && j.inside != nil:
		return &Rule{partition + " size", fmt.Sprintf("%s has %s of %s", j.inside.title(), count(len(p.Nodes), "node"), partition)}
	case nodes > int64(len(p.Nodes)):
		return &Rule{partition + " size", fmt.Sprintf("%s has %s", partition, count(len(p.Nodes), "node"))}
	case p.TotalCPUs > 0 && int64(j.CPUs) > p.TotalCPUs:
		return &Rule{partition + " size", fmt.Sprintf("%s has %s", partition, count(p.TotalCPUs, "CPU"))}
	case p.MaxNodes > 0 && nodes > p.MaxNodes && !j.overrides(func(q *QOS) bool { return q.PartitionMaxNodes }):
		return &Rule{partition + " MaxNodes", fmt.Sprintf("%s allows %s a job (MaxNodes)", partition, count(p.MaxNodes, "node"))}
	case nodes > 0 && nodes < p.MinNodes && !j.overrides(func(q *QOS) bool { return q.PartitionMinNodes }):
		return &Rule{partition + " MinNodes", fmt.Sprintf("%s takes no job of less than %s (MinNodes)", partition, count(p.MinNodes, "node"))}
	}
	limits := j.chain()
	for _, tres := range limits.names(func(l *JobLimits) TRES { return l.MaxTRES }) {
		h, ok := limits.first(func(h holder) bool { return has(h.MaxTRES, tres) })
		if ok && j.amount(tres) > h.MaxTRES[tres] {
			return tooLarge(h, "MaxTRES", tres, h.MaxTRES[tres])
		}
	}
	for _, tres := range limits.names(func(l *JobLimits) TRES { return l.MaxTRESPerNode }) {
		h, ok := limits.first(func(h holder) bool { return has(h.MaxTRESPerNode, tres) })
		if most := h.MaxTRESPerNode[tres]; ok && j.amount(tres)/int64(max(1, j.Nodes)) > most {
			return h.forbids("MaxTRESPerNode="+tres, "allows %d %s a node", most, tres)
		}
	}
	for _, tres := range limits.names(func(l *JobLimits) TRES { return l.GrpTRES }) {
		for _, h := range limits.grouped(func(h holder) bool { return has(h.GrpTRES, tres) }) {
			if j.amount(tres) > h.GrpTRES[tres] {
				return tooLarge(h, "GrpTRES", tres, h.GrpTRES[tres])
			}
		}
	}
	for _, h := range limits.qos {
		for _, tres := range slices.Sorted(maps.Keys(h.MinTRES)) {
			if least := h.MinTRES[tres]; j.amount(tres) < least {
				return h.forbids("MinTRES="+tres, "takes no job of less than %d %s", least, tres)
			}
		}
	}
	for _, s := range j.shares() {
		if rule := s.checkAlone(j); rule != nil {
			return rule
		}
	}
	return nil
}

// tooLarge returns the rule that h allows at most an amount of a TRES.
func tooLarge(h holder, setting, tres string, most int64) *Rule {
	return h.forbids(setting+"="+tres, "allows %d %s", most, tres)
}

// forbids returns the rule that a setting of h is. Its sentence begins with h's name, and format
// goes on with it.
func (h *holder) forbids(setting, format string, args ...any) *Rule {
	return &Rule{Name: h.name + " " + setting, Says: fmt.Sprintf("%s %s (%s)", h.name, fmt.Sprintf(format, args...), setting)}
}

// count formats a number of things.
func count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
