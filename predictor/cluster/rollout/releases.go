package rollout

import "slices"

// release is the time at which a job reaches its limit and frees its processors.
type release struct {
	at    int64
	procs int32
}

// releases are those of the running jobs, ascending, in chunks. To add or remove one costs
// O(chunkSize + n/chunkSize) with n of them, as does a search for when so many processors have been
// freed. The zero value has none.
type releases struct {
	chunks []chunk
	spare  [][]release // memory of chunks that are not needed now
}

// chunk is a stretch of releases, never empty.
type chunk struct {
	list  []release
	procs int32 // of all of them
}

// chunkSize is the greatest length of a chunk.
const chunkSize = 128

// clear removes all releases.
func (r *releases) clear() {
	for i := range r.chunks {
		r.spare = append(r.spare, r.chunks[i].list[:0])
	}
	r.chunks = r.chunks[:0]
}

// load makes the releases those of the running jobs, which are in the order of Planned. Chunks are
// filled by three quarters, so that few are split soon.
func (r *releases) load(running []Running) {
	r.clear()
	for part := range slices.Chunk(running, chunkSize*3/4) {
		c := chunk{list: r.room()}
		for _, o := range part {
			c.list = append(c.list, release{o.Planned, o.Procs})
			c.procs += o.Procs
		}
		r.chunks = append(r.chunks, c)
	}
}

// room returns memory for a chunk.
func (r *releases) room() []release {
	if last := len(r.spare) - 1; last >= 0 {
		room := r.spare[last]
		r.spare = r.spare[:last]
		return room
	}
	return make([]release, 0, chunkSize)
}

// add adds a release.
func (r *releases) add(x release) {
	i := r.chunkOf(x.at)
	if i == len(r.chunks) { // after all others
		i--
	}
	if i < 0 || len(r.chunks[i].list) == chunkSize {
		if i < 0 || i == len(r.chunks)-1 && r.chunks[i].last().at <= x.at {
			i++
			r.chunks = append(r.chunks, chunk{list: r.room()})
		} else {
			r.split(i)
			if r.chunks[i].last().at < x.at {
				i++
			}
		}
	}
	c := &r.chunks[i]
	c.list = slices.Insert(c.list, c.find(x.at), x)
	c.procs += x.procs
}

// split divides a chunk in two.
func (r *releases) split(i int) {
	c := &r.chunks[i]
	half := chunk{list: append(r.room(), c.list[chunkSize/2:]...)}
	for _, x := range half.list {
		half.procs += x.procs
	}
	c.list, c.procs = c.list[:chunkSize/2], c.procs-half.procs
	r.chunks = slices.Insert(r.chunks, i+1, half)
}

// remove removes a release that there is.
func (r *releases) remove(x release) {
	i := r.chunkOf(x.at)
	k := r.chunks[i].find(x.at)
	for r.chunks[i].list[k].procs != x.procs {
		if k++; k == len(r.chunks[i].list) {
			i, k = i+1, 0
		}
	}
	c := &r.chunks[i]
	c.list = slices.Delete(c.list, k, k+1)
	c.procs -= x.procs
	if len(c.list) == 0 {
		r.spare = append(r.spare, c.list)
		r.chunks = slices.Delete(r.chunks, i, i+1)
	}
}

// chunkOf returns the first chunk that has a release at a time or later, or the number of chunks if
// none has.
func (r *releases) chunkOf(at int64) int {
	low, high := 0, len(r.chunks)
	for low < high {
		if mid := (low + high) / 2; r.chunks[mid].last().at < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// freed returns when at least need processors are free, if free are at now, and how many are then.
func (r *releases) freed(now int64, free, need int32) (at int64, then int32) {
	at = now
	for i := range r.chunks {
		c := &r.chunks[i]
		if free+c.procs < need {
			free, at = free+c.procs, c.last().at
			continue
		}
		for _, x := range c.list {
			if free >= need && x.at != at {
				return at, free
			}
			free, at = free+x.procs, x.at
		}
	}
	return at, free
}

// by returns how many processors have been freed by a time.
func (r *releases) by(at int64) (procs int32) {
	for i := range r.chunks {
		c := &r.chunks[i]
		if c.last().at <= at {
			procs += c.procs
			continue
		}
		for _, x := range c.list[:c.find(at+1)] {
			procs += x.procs
		}
		break
	}
	return procs
}

func (c *chunk) last() release { return c.list[len(c.list)-1] }

// find returns the index of the first release of the chunk at a time or later.
func (c *chunk) find(at int64) int {
	low, high := 0, len(c.list)
	for low < high {
		if mid := (low + high) / 2; c.list[mid].at < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
