package score

import "strings"

// Key says which forecasts are summed.
type Key struct {
	Day                          int64 // as Day returns it
	Forecaster, Partition, Class string
}

// Table has the sums of many forecasts.
type Table map[Key]*Sums

// At returns the sums of a key. It adds zero Sums if there are none.
func (t Table) At(k Key) *Sums {
	if t[k] == nil {
		t[k] = &Sums{}
	}
	return t[k]
}

// PublicClass returns the name of a class of jobs without the words user=NAME and
// account=NAME.
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
