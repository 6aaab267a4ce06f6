package features

import "math"

// logDelay is the logarithm of a delay, in which the first minute counts for
// little.
func logDelay(seconds float64) float64 { return math.Log(60 + max(0, seconds)) }

// Delay returns a delay in seconds as a feature, like those of a Vector.
func Delay(seconds float64) float32 { return float32(logDelay(seconds)) }

// everything is the number of what all jobs have in common.
const everything = -1

// atFirst is the level before any job has waited: the logarithm of a minute and a
// half.
const atFirst = 5

// means are running means by number.
type means struct {
	keep float64 // of what is known, at each new value
	by   newest[int32, mean]
}

type mean struct{ sum, weight float64 }

// with returns the mean with a new value, of which so much of the old is kept.
func (m mean) with(z, keep float64) mean { return mean{m.sum*keep + z, m.weight*keep + 1} }

func (m *means) learn(i int32, z float64) {
	v, _ := m.by.get(i)
	m.by.set(i, v.with(z, m.keep))
}

// of returns a mean, drawn towards another as long as it rests on little.
func (m *means) of(i int32, towards float64) float64 {
	v, _ := m.by.get(i)
	return (v.sum + towards/2) / (v.weight + .5)
}

// levels are how long jobs have waited, in logarithms: in the long run, of late,
// and the last one.
type levels struct{ slow, fast, last means }

func newLevels() levels {
	return levels{
		slow: means{keep: .995},
		fast: means{keep: .9},
		last: means{keep: 0},
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

// shares are which share of their time limits users' jobs run for, in logarithms.
type shares struct {
	all mean
	by  newest[int32, mean]
}

// learn takes in a share, by user and for all.
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

// usage is the CPU-seconds that users and accounts have had, decaying.
type usage struct{ by newest[int32, used] }

type used struct {
	day, week float64 // with a mean age of a day, of a week
	at        int64
}

func (u *usage) charge(t *task, at int64, cpuSeconds float64) {
	for _, i := range [...]int32{t.user, t.account} {
		v := u.of(i, at)
		v.day += cpuSeconds
		v.week += cpuSeconds
		u.by.set(i, v)
	}
}

// of returns what i has used, as it counts at a time.
func (u *usage) of(i int32, at int64) used {
	v, _ := u.by.get(i)
	age := float64(max(0, at-v.at)) / 86400
	return used{v.day * math.Exp(-age), v.week * math.Exp(-age/7), max(at, v.at)}
}
