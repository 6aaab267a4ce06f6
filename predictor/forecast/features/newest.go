package features

import "maps"

// generation is how many keys are new, or set anew, before those that were not for
// as long are forgotten.
const generation = 8192

// newest is what is known by key: of the newest keys, at most twice a generation of
// them.
type newest[K comparable, V any] struct {
	young, old map[K]V // old is not written to
}

// get returns what is known of a key, or zero.
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

// still returns what is known now: nothing that is set from now on changes it.
func (n *newest[K, V]) still() newest[K, V] { return newest[K, V]{maps.Clone(n.young), n.old} }
