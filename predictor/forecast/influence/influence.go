// Package influence bounds how much the outcomes of one user's jobs teach about the jobs of others.
package influence

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Influence weighs outcomes by whose they are.
//
// What delays one job of a user delays her others: her jobs are submitted in bursts, ask for the
// same, and wait for one another. So many outcomes of one user are hardly more evidence than
// one, and the n-th of hers among the newest outcomes has the weight 1/n. Her 1,000 outcomes in a
// row weigh no more than 9 of as many users, whatever they are.
type Influence struct {
	users    map[string]share
	outcomes float64 // of all users
}

// share is how many of the newest outcomes are one user's.
type share struct {
	count float64 // as of her newest outcome; it fades with each outcome of any user
	at    float64 // Influence.outcomes then
}

const (
	// newest is the mean age, in outcomes, at which outcomes cease to count in a share.
	newest = 500
	// mostShares is the most shares remembered. When there are more, the smallest half is
	// forgotten.
	mostShares = 2000
)

// New returns the Influence of users of whom nothing is known.
func New() *Influence { return &Influence{users: map[string]share{}} }

// Weigh returns the weight, between 0 and 1, of an outcome of a user. It is 1 if nobody knows
// whose job it was.
func (i *Influence) Weigh(user string) float64 {
	if user == "" {
		return 1
	}
	i.outcomes++
	count := i.count(user) + 1
	if _, known := i.users[user]; !known && len(i.users) >= mostShares {
		i.forget()
	}
	i.users[user] = share{count, i.outcomes}
	return 1 / count
}

// count returns how many of the newest outcomes are a user's.
func (i *Influence) count(user string) float64 {
	s := i.users[user]
	return s.count * math.Exp((s.at-i.outcomes)/newest)
}

// forget forgets the smallest half of the shares.
func (i *Influence) forget() {
	names := slices.SortedFunc(maps.Keys(i.users), func(a, b string) int {
		return cmp.Or(cmp.Compare(i.count(a), i.count(b)), cmp.Compare(a, b))
	})
	for _, name := range names[:len(names)/2] {
		delete(i.users, name)
	}
}
