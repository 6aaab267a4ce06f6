package features

import "maps"

// generation is the number of keys in each of the two maps of newest.
const generation = 8192

// newest is a bounded map. Keys are set in young. When young has a generation of keys, it
// becomes old, and the keys of the previous old map that were not set again are forgotten.
type newest[K comparable, V any] struct {
	young, old map[K]V // old is not written to
}

// get returns the value of a key, or zero and false.
func (n *newest[K, V]) get(k K) (v V, ok bool) {
	if v, ok = n.young[k]; !ok {
		v, ok = n.old[k]
	}
	return v, ok
}

func (n *newest[K, V]) set(k K, v V) {
	if n.young == nil || len(n.young) == generation {
		n.young, n.old = map[K]V{}, n.young
	}
	n.young[k] = v
}

// snapshot returns a snapshot that later calls of set do not change.
func (n *newest[K, V]) snapshot() newest[K, V] { return newest[K, V]{maps.Clone(n.young), n.old} }
