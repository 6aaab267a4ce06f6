package limits

import "github.com/varq-project/varq/predictor/slurmtime"

// ReservedBetween names Slurm's own reservations that have nodes of a partition at some time
// between two, and says from when until when: "reservation maint (from 2027-01-15T10:00:00Z until
// 2027-01-15T12:00:00Z)". It is "" if there are none. Times are in Unix seconds, and told if the
// zone is known.
func (c *Cluster) ReservedBetween(partition string, from, until int64) string {
	p := c.Partitions[partition]
	nodes := p.names()
	var names []string
	for i := range c.Reservations {
		v := &c.Reservations[i]
		if !v.has(nodes) {
			continue
		}
		for span := range v.times() {
			if span.Start < until && span.End > from {
				names = append(names, v.title()+slurmtime.Span(span.Start, span.End, c.Zone))
				break
			}
		}
	}
	return and(names)
}
