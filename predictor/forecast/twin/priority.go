package twin

import (
	"math"

	"github.com/varq-project/varq/predictor/workload"
)

// priorities are what is known of Slurm's priorities: how they grow, and which jobs have which when
// they begin to wait. Two jobs that wait gain the same, unless one has waited for so long that it
// gains no more. So the priority without that gain is what users, accounts and QOS differ by. A job
// that is not submitted yet is expected to have the priority of the user's last job of the same
// account, partition and QOS, or else the mean priority of the jobs that are most like it: without
// what their users lower them by (sbatch --nice), and less what its own user does. Until a job with
// a priority comes, which in a log is never, nothing is known, and each priority is 0. Each method
// costs O(1), except the method later.
type priorities struct {
	aging workload.Aging
	last  map[like]int64
	means map[like]mean
	// came has those of the last jobs that began to wait, in a ring.
	came [remembered]int64
	n    int // how many came, since ever
}

// remembered is how many of the last jobs tell how many come that go before a job.
const remembered = 256

// like names jobs that are taken to have about the same priority. It is wider with fewer names.
type like struct{ user, account, partition, qos string }

// mean is a fading mean.
type mean struct{ sum, weight float64 }

// wider returns the groups of those who are less and less like a user's jobs.
func (l like) wider() [3]like {
	return [...]like{{account: l.account, partition: l.partition, qos: l.qos}, {partition: l.partition, qos: l.qos}, {}}
}

func likeOf(r *workload.Request) like { return like{r.User, r.Account, r.Partition, r.QOS} }

// submitted takes in the priority of a job that begins to wait.
func (p *priorities) submitted(j *workload.Job) {
	if j.Priority == 0 {
		return
	}
	if p.means == nil {
		p.last, p.means = make(map[like]int64), make(map[like]mean)
	}
	const fade = 1 - 1./16
	l, priority := likeOf(&j.Request), j.Priority+j.Nice
	p.last[l] = priority
	for _, wider := range l.wider() {
		m := p.means[wider]
		p.means[wider] = mean{m.sum*fade + float64(priority), m.weight*fade + 1}
	}
	p.came[p.n%remembered] = j.Priority
	p.n++
}

// changed takes in that the priority of a job that waits is another one: that of the user's next
// job will be, too.
func (p *priorities) changed(j *workload.Job) {
	if p.last != nil && j.Priority != 0 {
		p.last[likeOf(&j.Request)] = j.Priority + j.Nice
	}
}

// expected returns the priority that a job with a request will have when it begins to wait, or 0
// where nothing is known.
func (p *priorities) expected(r *workload.Request) int64 {
	if !p.known() {
		return 0
	}
	return max(1, p.usual(likeOf(r))-r.Nice)
}

// usual returns the priority of those who are most like a job whose user does not lower it.
func (p *priorities) usual(l like) int64 {
	if known, ok := p.last[l]; ok {
		return known
	}
	for _, wider := range l.wider() {
		if m, ok := p.means[wider]; ok {
			return int64(math.Round(m.sum / m.weight))
		}
	}
	return 0
}

// known reports whether any job has had a priority. Since then all jobs have one, if it is only
// expected of them.
func (p *priorities) known() bool { return p.n > 0 }

// of returns a job's priority now, with what it has gained since it began to wait, or 0 where
// nothing is known.
func (p *priorities) of(j *workload.Job, now int64) int64 {
	known := j.Priority
	if known == 0 {
		known = p.expected(&j.Request)
	}
	if known == 0 {
		return 0
	}
	return known + p.aging.Of(j, now)
}

// later returns the share of the jobs that came last which would go before a job of a priority if
// they came now. It is 0 where nothing is known, and costs O(remembered).
func (p *priorities) later(than int64) float64 {
	most, higher := min(p.n, remembered), 0
	for _, came := range p.came[:most] {
		if came > than {
			higher++
		}
	}
	return float64(higher) / float64(max(1, most))
}
