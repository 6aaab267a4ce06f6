package features

import "math"

// logDelay returns the logarithm of a delay plus a minute. So differences between delays
// much shorter than a minute count little.
func logDelay(seconds float64) float64 { return math.Log(60 + max(0, seconds)) }

// Delay returns a delay in seconds as a feature, like those of a Vector.
func Delay(seconds float64) float32 { return float32(logDelay(seconds)) }

// everything is the number that stands for all jobs.
const everything = -1

// atFirst is the level before any job has waited: the logDelay of a minute and a half.
const atFirst = 5

// means are decaying means by number, as numbering gives them.
type means struct {
	decay float64 // per new value
	by    newest[int32, mean]
}

type mean struct{ sum, weight float64 }

// with returns the mean with a new value z, after the older values have decayed.
func (m mean) with(z, decay float64) mean { return mean{m.sum*decay + z, m.weight*decay + 1} }

func (m *means) learn(i int32, z float64) {
	v, _ := m.by.get(i)
	m.by.set(i, v.with(z, m.decay))
}

// of returns the mean with number i. As long as it has few values, it is shrunk towards
// another one.
func (m *means) of(i int32, towards float64) float64 {
	v, _ := m.by.get(i)
	return (v.sum + towards/2) / (v.weight + .5)
}

// levels are the logDelays of waits: slow means over many of them, fast means over few, and
// the last wait.
type levels struct{ slow, fast, last means }

func newLevels() levels {
	return levels{
		slow: means{decay: .995},
		fast: means{decay: .9},
		last: means{decay: 0},
	}
}

func (l *levels) learn(t *task, z float64) {
	for _, i := range [...]int32{everything, t.line, t.user, t.account, t.cell} {
		l.slow.learn(i, z)
	}
	for _, i := range [...]int32{everything, t.line, t.user, t.cell} {
		l.fast.learn(i, z)
	}
	for _, i := range [...]int32{t.user, t.line, t.shape} {
		l.last.learn(i, z)
	}
}

// shares are the logarithms of the share of its time limit that a job runs for: means over
// all jobs and by user.
type shares struct {
	all mean
	by  newest[int32, mean]
}

// learn takes in the share of a user's job.
func (s *shares) learn(user int32, share float64) {
	z := math.Log(max(1e-4, min(share, 1)))
	v, _ := s.by.get(user)
	s.by.set(user, v.with(z, .8))
	s.all = s.all.with(z, .99)
}

func (s *shares) of(user int32) float64 {
	own, _ := s.by.get(user)
	towards := (s.all.sum - .5) / (s.all.weight + .5)
	return math.Exp((own.sum + towards/2) / (own.weight + .5))
}

// usage is the CPU-seconds that users and accounts have used, decaying with time.
type usage struct{ by newest[int32, used] }

type used struct {
	day, week float64 // CPU-seconds, decayed by exp(-1) per day, per week
	at        int64   // the time up to which they have decayed, Unix seconds
}

func (u *usage) charge(t *task, at int64, cpuSeconds float64) {
	for _, i := range [...]int32{t.user, t.account} {
		v := u.of(i, at)
		v.day += cpuSeconds
		v.week += cpuSeconds
		u.by.set(i, v)
	}
}

// of returns the usage of i, decayed up to a time.
func (u *usage) of(i int32, at int64) used {
	v, _ := u.by.get(i)
	age := float64(max(0, at-v.at)) / 86400
	return used{v.day * math.Exp(-age), v.week * math.Exp(-age/7), max(at, v.at)}
}
