package slurm

// Index has the jobs of a queue, or of a part of it, by what they are looked for.
type Index struct {
	ByID map[int64]*QueueEntry
	// Named has the jobs by what their comments name.
	Named map[string][]*QueueEntry
}

// NewIndex returns an Index of jobs, which it keeps. name returns what a comment names, and false
// if that is nothing.
func NewIndex(jobs []QueueEntry, name func(comment string) (string, bool)) Index {
	x := Index{ByID: make(map[int64]*QueueEntry, len(jobs)), Named: map[string][]*QueueEntry{}}
	for i := range jobs {
		j := &jobs[i]
		x.ByID[j.ID] = j
		if of, ok := name(j.Comment); ok {
			x.Named[of] = append(x.Named[of], j)
		}
	}
	return x
}

// Claimant returns the job of a user whose comment names something, or nil if there is none: of
// several the one that was submitted first.
func (x *Index) Claimant(named, user string) *QueueEntry {
	var first *QueueEntry
	for _, j := range x.Named[named] {
		if j.User == user && (first == nil || j.Submit < first.Submit || j.Submit == first.Submit && j.ID < first.ID) {
			first = j
		}
	}
	return first
}
