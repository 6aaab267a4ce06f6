package features

import (
	"math"

	"github.com/varq-project/varq/predictor/workload"
)

// State is what was so at a moment whoever would have asked. It is kept to find
// out later what could have been said then of a job that was yet to come.
type State struct {
	At          int64 // Unix seconds
	all         crowd
	parts       map[int32]crowd
	lines       map[int32]crowd
	most, level float64
	levels      map[int32]float64 // by line
}

// crowd is some jobs that wait, and some that run.
type crowd struct {
	count, oldest float64 // of those that wait; seconds
	waiting, left float64 // expected CPU-seconds of those that wait, that run
	used, most    float64 // CPUs
}

// State looks at what is so now. It costs O(q + r) with q jobs waiting and r
// running.
func (e *Extractor) State(now int64) *State {
	s := &State{At: now, parts: map[int32]crowd{}, lines: map[int32]crowd{}, levels: map[int32]float64{}}
	for i := range e.queue.pending {
		p := &e.queue.pending[i]
		age, work := float64(now-p.since), p.cpus*p.expected
		s.each(p, func(c *crowd) {
			c.count++
			c.oldest = max(c.oldest, age)
			c.waiting += work
		})
	}
	for i := range e.queue.running {
		r := &e.queue.running[i]
		_, left := r.left(now)
		s.each(r, func(c *crowd) { c.left += r.cpus * left })
	}
	s.all.used, s.all.most = e.queue.used, e.queue.most
	for number, room := range e.queue.parts {
		c := s.parts[number]
		c.used, c.most = room.used, room.most
		s.parts[number] = c
	}
	s.level = e.levels.fast.of(everything, e.levels.slow.of(everything, atFirst))
	for number := range s.lines {
		s.levels[number] = e.levels.fast.of(number, s.level)
	}
	return s
}

// each changes the crowds that a job belongs to.
func (s *State) each(t *task, change func(*crowd)) {
	change(&s.all)
	part, line := s.parts[t.part], s.lines[t.line]
	change(&part)
	change(&line)
	s.parts[t.part], s.lines[t.line] = part, line
}

// Later are the features of a request that is to be submitted some time after what
// is known of the queue.
type Later [LaterCount]float32

// LaterCount is the number of features of Later.
const LaterCount = Lasting + 17

// Later makes the features of a request that becomes eligible at submit, Unix
// seconds, as far as the state of the queue before tells.
func (e *Extractor) Later(r *workload.Request, s *State, submit int64, v *Later) {
	t := e.task(r, 0, submit, e.names.find)
	w := writer{to: v[:0]}
	e.lasting(&w, &t, s.At)
	part, line := s.parts[t.part], s.lines[t.line]
	level, ok := s.levels[t.line]
	if !ok {
		level = s.level
	}
	most, here := max(s.all.most, t.cpus), max(part.most, t.cpus)
	w.add(
		math.Log(float64(60+max(0, submit-s.At))),
		s.level, level,
		math.Log1p(s.all.count), logDelay(s.all.oldest), logDelay(s.all.waiting/most), logDelay(s.all.left/most),
		most-s.all.used, most-s.all.used-t.cpus,
		math.Log1p(part.count), logDelay(part.oldest), logDelay((part.waiting+part.left)/here), here-part.used-t.cpus,
		math.Log1p(line.count), logDelay(line.oldest), logDelay(line.waiting/here), logDelay((s.all.waiting+s.all.left)/most),
	)
	if len(w.to) != LaterCount {
		panic("features: wrong number")
	}
}
