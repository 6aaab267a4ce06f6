package score

import "strings"

// Key is what sums are about.
type Key struct {
	Day                          int64 // as Day returns it
	Forecaster, Partition, Class string
}

// Table has the sums of many forecasts.
type Table map[Key]*Sums

// At returns the sums of a key, which are there from then on.
func (t Table) At(k Key) *Sums {
	if t[k] == nil {
		t[k] = &Sums{}
	}
	return t[k]
}

// PublicClass returns the name of a class of jobs without whose they are: the
// words user=NAME and account=NAME are left out of it.
func PublicClass(class string) string {
	words := strings.Fields(class)
	public := words[:0]
	for _, w := range words {
		if !strings.HasPrefix(w, "user=") && !strings.HasPrefix(w, "account=") {
			public = append(public, w)
		}
	}
	return strings.Join(public, " ")
}
