package limits

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// License counts the licences of one name: all, those that jobs, or Slurm's own reservations, have
// now, and those that are kept from jobs: by Slurm's reservations, or by others than Slurm's jobs.
type License struct{ Total, Used, Kept int64 }

// askedLicence is one item of a list such as "matlab:2,ansys".
type askedLicence struct {
	name   string
	number int64
}

// askedLicences reads a list as of sbatch --licenses. Its error is for the user.
func askedLicences(list string) (all []askedLicence, err error) {
	for item := range strings.FieldsFuncSeq(list, func(c rune) bool { return strings.ContainsRune(",;|", c) }) {
		name, text, counted := strings.Cut(item, ":")
		asked := askedLicence{name, 1}
		if counted {
			if asked.number, err = strconv.ParseInt(text, 10, 32); err != nil || asked.number < 0 {
				return nil, fmt.Errorf("%q is not a number of licences", text)
			}
		}
		all = append(all, asked)
	}
	return all, nil
}

// Licences returns those of a list as of sbatch --licenses that can run out, as workload.Size has
// them: there are fewer than if each CPU of the cluster ran a job with as many. Of a list that
// cannot be read, or that names others than Slurm's licences, there are none.
func (c *Cluster) Licences(list string) workload.Licences {
	asked, err := askedLicences(list)
	if err != nil {
		return ""
	}
	scarce := map[string]int64{}
	for _, l := range asked {
		if of, known := c.Licenses[l.name]; known && l.number > 0 && l.number*c.cpus() > of.Total {
			scarce[l.name] += l.number
		}
	}
	return workload.LicencesOf(scarce)
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
	if j.needs.Licenses == "" || j.cluster.Licenses == nil {
		return nil
	}
	option := "--licenses=" + j.needs.Licenses
	asked, err := askedLicences(j.needs.Licenses)
	if err != nil {
		return need("%s: %s", option, err)
	}
	cpus := j.cluster.cpus()
	for _, l := range asked {
		of, known := j.cluster.Licenses[l.name]
		switch each := l.number * cpus; {
		case !known:
			return need("%s: Slurm has no licence %s", option, l.name)
		case l.number > of.Total:
			return need("%s: there are %d of licence %s", option, of.Total, l.name)
		case l.number > of.Total-of.Kept:
			return need("%s: %d of the %d of licence %s are kept from jobs now: ask again later", option, of.Kept, of.Total, l.name)
		case each <= of.Total && each > of.Total-of.Used:
			return need("%s: %d of the %d of licence %s are in use, and when enough are free cannot be forecast%s, or ask again when fewer are in use", option, of.Used, of.Total, l.name, advice)
		}
	}
	return nil
}

// licensed returns how many jobs like this one can have their licences at the same time, n at most.
func (j *Job) licensed(n int32) int32 {
	for name, number := range j.Licences.All() {
		of := j.cluster.Licenses[name]
		n = int32(min(int64(n), max(0, of.Total-of.Kept)/max(1, number)))
	}
	return n
}
