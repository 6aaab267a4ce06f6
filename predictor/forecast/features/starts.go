package features

import "math"

// starts are the last jobs that started, in a ring.
type starts struct {
	ring [remembered]started
	n    int // the number of starts so far
}

const remembered = 400

// started is a job that has started. It is small because each question visits all of them.
type started struct {
	at              int64   // Unix seconds
	z               float64 // logarithm of its wait
	lnCPUs, lnLimit float64
	line, user      int32
}

func (s *starts) learn(t *task, at int64, z float64) {
	s.ring[s.n%remembered] = started{at, z, t.lnCPUs, t.lnLimit, t.line, t.user}
	s.n++
}

// set sets the mean waits of the last jobs that started, weighted by how similar to t and
// how recent they are. It also sets when the last job started that asks for the same as t,
// and the last that asks for no less, and how long these waited. towards is the mean that
// stands for missing jobs.
func (s *starts) set(v *Vector, t *task, now int64, towards float64) {
	const long = 30 * 86400
	var near, wide struct{ sum, squares, weight float64 }
	larger, largerZ, same, sameZ := float64(long), towards, float64(long), towards
	for k := 1; k <= min(s.n, remembered); k++ {
		o := &s.ring[(s.n-k)%remembered]
		since := max(0, float64(now-o.at))
		size, limit := o.lnCPUs-t.lnCPUs, o.lnLimit-t.lnLimit
		far := math.Abs(size) + math.Abs(limit)
		if o.line == t.line {
			if larger == long && size > -.01 && limit > -.01 {
				larger, largerZ = since, o.z
			}
			if same == long && far < .1 {
				same, sameZ = since, o.z
			}
		} else {
			far += 1.5
		}
		if o.user == t.user {
			far = max(0, far-.5)
		}
		weight := decay(1.5*far + since/86400)
		near.sum += weight * o.z
		near.squares += weight * o.z * o.z
		near.weight += weight
		weight = decay(3*far + since/604800)
		wide.sum += weight * o.z
		wide.weight += weight
	}
	const doubt = .01
	mean := (near.sum + doubt*towards) / (near.weight + doubt)
	variance := (near.squares+doubt*towards*towards)/(near.weight+doubt) - mean*mean
	v.set(nearMean, mean)
	v.set(nearSpread, math.Sqrt(max(0, variance)))
	v.set(wideMean, (wide.sum+doubt*mean)/(wide.weight+doubt))
	v.set(largerStarted, logDelay(larger))
	v.set(largerWaited, largerZ)
	v.set(sameStarted, logDelay(same))
	v.set(sameWaited, sameZ)
}

// decay returns about exp(-x) for x >= 0, from a table. That is exact enough for weights.
func decay(x float64) float64 {
	i := int(x * decaySteps)
	if i >= len(decays) {
		return 0
	}
	return decays[i]
}

const decaySteps = 64

var decays = func() (d [16 * decaySteps]float64) {
	for i := range d {
		d[i] = math.Exp(-(float64(i) + .5) / decaySteps)
	}
	return d
}()
