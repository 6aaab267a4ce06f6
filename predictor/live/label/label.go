// Package label bounds the number of values of a label of a Prometheus metric.
package label

import "sync"

// Rest is the value that stands for all that have none of their own.
const Rest = "(others)"

// Values are the values of a label: the first Most that come, and Rest for all that come later. Its
// methods may be called concurrently.
type Values struct {
	Most int

	mu    sync.Mutex
	known map[string]bool
}

// Of returns the label's value for a name.
func (v *Values) Of(name string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.known[name]:
		return name
	case len(v.known) >= v.Most:
		return Rest
	case v.known == nil:
		v.known = map[string]bool{}
	}
	v.known[name] = true
	return name
}
