package limits

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// License counts the licences of one name: all, those that jobs, or Slurm's own reservations, have
// now, and those that Slurm lacks because others than its jobs have them.
type License struct{ Total, Used, Kept int64 }

// askedLicences reads a list as of sbatch --licenses, or as Slurm writes it: how many of each name.
// Its error is for the user.
func askedLicences(list string) (map[string]int64, error) {
	asked := map[string]int64{}
	for item := range strings.FieldsFuncSeq(list, func(c rune) bool { return strings.ContainsRune(",;|", c) }) {
		name, number := item, int64(1)
		if i := strings.IndexAny(item, ":=*"); i >= 0 {
			var err error
			if number, err = strconv.ParseInt(item[i+1:], 10, 32); err != nil || number < 0 {
				return nil, fmt.Errorf("%q is not a number of licences", item[i+1:])
			}
			name = item[:i]
		}
		asked[name] += number
	}
	return asked, nil
}

// Licences returns those of a list as of sbatch --licenses that can run out, as workload.Size has
// them: there are fewer than if each CPU of the cluster ran a job with as many. It leaves out names
// that Slurm does not know. Of a list that cannot be read there are none. It takes O(n) for n nodes
// if the list is not empty.
func (c *Cluster) Licences(list string) workload.Licences {
	if list == "" || len(c.Licenses) == 0 {
		return ""
	}
	return c.scarce(list, c.cpus())
}

// scarce is Licences, given how many CPUs all nodes have.
func (c *Cluster) scarce(list string, cpus int64) workload.Licences {
	asked, err := askedLicences(list)
	if err != nil {
		return ""
	}
	for name, number := range asked {
		if of, known := c.Licenses[name]; !known || number*cpus <= of.Total {
			delete(asked, name)
		}
	}
	return workload.LicencesOf(asked)
}

// cpus returns how many CPUs all nodes have.
func (c *Cluster) cpus() (all int64) {
	for _, n := range c.Nodes {
		all += n.CPUs
	}
	return all
}

// checkLicences checks the licences that the job asks for. Of those that hardly run out, so many
// have to be free that each CPU of the cluster can run a job with as many. How long a job waits for
// others is forecast.
func (j *Job) checkLicences() *Rule {
	list := j.needs.Licenses
	if list == "" || j.cluster.Licenses == nil {
		return nil
	}
	option := "--licenses=" + list
	asked, err := askedLicences(list)
	switch {
	case err != nil:
		return need("%s: %s", option, err)
	case strings.Contains(list, "|"):
		return need("%s: varq does not know which of them the job will have: name those that it needs, separated by commas", option)
	}
	cpus := j.cluster.cpus()
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		of, known := j.cluster.Licenses[name]
		number := asked[name]
		switch each := number * cpus; {
		case !known:
			return need("%s: Slurm has no licence %s", option, name)
		case number > of.Total:
			return need("%s: there are %d of licence %s", option, of.Total, name)
		case number > of.Total-of.Kept:
			return need("%s: others than Slurm's jobs have %d of the %d of licence %s: ask again later", option, of.Kept, of.Total, name)
		case each <= of.Total && each > of.Total-of.Used:
			return need("%s: %d of the %d of licence %s are in use, and when enough are free cannot be forecast%s, or ask again when fewer are in use", option, of.Used, of.Total, name, advice)
		}
	}
	return nil
}

// licensed returns how many jobs can have such licences at the same time, n at most, and the
// licence of which there are too few for n.
func (c *Cluster) licensed(l workload.Licences, n int32) (most int32, by string) {
	for name, number := range l.All() {
		of := c.Licenses[name]
		if enough := max(0, of.Total-of.Kept) / max(1, number); enough < int64(n) {
			n, by = int32(enough), name
		}
	}
	return n, by
}

// Licensed returns the claims on licences of the reservations that are not over at a time, but for
// the one of a name. One that floats has its licences from as far ahead on as it is.
func (l Reservations) Licensed(now int64, but string) (claims []workload.Claim) {
	for i := range l {
		v := &l[i]
		if v.Licenses == "" || v.Name == but {
			continue
		}
		numbers, err := askedLicences(v.Licenses)
		if err != nil {
			continue
		}
		claim := func(s Span) {
			claims = append(claims, workload.Claim{
				Request: workload.Request{Size: workload.Size{Licences: workload.LicencesOf(numbers)}, Limit: s.End - s.Start},
				Start:   s.Start, From: s.Start,
			})
		}
		for span := range v.times() {
			if span.End > now {
				claim(span)
			}
		}
		if v.Floats {
			claim(Span{now + v.Ahead, math.MaxInt32 + now})
		}
	}
	return claims
}
