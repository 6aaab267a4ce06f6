package elastic

import (
	"fmt"
	"slices"
)

// MostReasons is how many reasons a site tells.
const MostReasons = 16

// Reasons are why a site has no slots of some sizes, each once. The zero Reasons has none.
type Reasons struct {
	List []string
	more int // than List has, without its last
}

// Add adds a reason. Beyond MostReasons the last place of the List is for all that have none: it
// has their number and the reason.
func (r *Reasons) Add(reason string) {
	switch {
	case slices.Contains(r.List, reason):
	case len(r.List) < MostReasons:
		r.List = append(r.List, reason)
	default:
		r.more++
		r.List[MostReasons-1] = fmt.Sprintf("%d more, of which the last is: %s", r.more+1, reason)
	}
}
