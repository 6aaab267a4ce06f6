package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/varq-project/varq/predictor/forecast/score"
)

// Shadow is a reservation that was not made: a job, and within what wait its start would have been
// promised.
type Shadow struct {
	Partition string
	Prob      float64
	Nodes     int32
	// Within is in seconds from Eligible on; 0 stands for a refusal.
	Within int64
	// Eligible, Start and End are the job's times. A time that is not known is 0. A job with an
	// end and no start was cancelled before it started.
	Eligible, Start, End int64
}

// ShadowRow sums up the shadows of one partition and probability.
type ShadowRow struct {
	Partition string
	Prob      float64
	// Jobs is the number of shadows: Refused, Kept, Missed, and Unknown, of which neither is
	// known, because the job still waits or was cancelled early.
	Jobs, Refused, Kept, Missed, Unknown int
	// Delivered is Kept / (Kept + Missed), and Low and High are the ends of its interval, as in
	// Row.
	Delivered, Low, High float64
	// Held is for how many node-seconds nodes would have idled before the work, of all jobs that
	// have started. Ratio is the same in times of the work, of the jobs that have ended.
	Held, Ratio float64
}

// shadowSum adds up a row.
type shadowSum struct {
	ShadowRow
	weekly           score.Weekly
	heldEnded, ended float64 // node-seconds, of jobs that have ended
}

// Shadows returns a row for each partition and probability, in their order, as of the time now.
// Partition "" has the sums of all partitions, and comes first.
func Shadows(all []Shadow, now int64) []ShadowRow {
	type key struct {
		partition string
		prob      float64
	}
	sums := map[key]*shadowSum{}
	for i := range all {
		s := &all[i]
		for _, partition := range []string{"", s.Partition} {
			k := key{partition, s.Prob}
			if sums[k] == nil {
				sums[k] = &shadowSum{ShadowRow: ShadowRow{Partition: partition, Prob: s.Prob}}
			}
			sums[k].add(s, now)
		}
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(a.prob, b.prob))
	})
	rows := make([]ShadowRow, len(keys))
	for i, k := range keys {
		rows[i] = sums[k].row()
	}
	return rows
}

func (s *shadowSum) add(r *Shadow, now int64) {
	s.Jobs++
	last := cmp.Or(r.Start, r.End, now) // until when the job has waited, as far as is known
	late := last > r.Eligible+r.Within
	switch {
	case r.Within == 0:
		s.Refused++
		return
	case late:
		s.Missed++
	case r.Start != 0:
		s.Kept++
	default:
		s.Unknown++
		return
	}
	s.weekly.At(score.Week(score.Day(r.Eligible))).Add(!late)
	if r.Start == 0 {
		return
	}
	held := float64(r.Nodes) * float64(max(0, r.Eligible+r.Within-r.Start))
	s.Held += held
	if r.End > r.Start {
		s.heldEnded += held
		s.ended += float64(r.Nodes) * float64(r.End-r.Start)
	}
}

func (s *shadowSum) row() ShadowRow {
	row := s.ShadowRow
	row.Delivered, row.Low, row.High = delivered(row.Kept, row.Missed, &s.weekly)
	if s.ended > 0 {
		row.Ratio = s.heldEnded / s.ended
	}
	return row
}
