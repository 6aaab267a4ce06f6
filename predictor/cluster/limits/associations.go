package limits

import (
	"slices"
	"strings"
)

// Associations are those of a cluster: of users in accounts, and of the accounts, which are a tree.
type Associations []Association

// Accounts returns the accounts that a user has an association with, in the order of their names.
func (l Associations) Accounts(user string) []string {
	return l.accounts(user, func(*Association) bool { return true })
}

func (l Associations) accounts(user string, with func(*Association) bool) []string {
	var found []string
	for i := range l {
		if a := &l[i]; user != "" && a.User == user && with(a) {
			found = append(found, a.Account)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// has reports whether a user has an association.
func (l Associations) has(user string) bool {
	return slices.ContainsFunc(l, func(a Association) bool { return a.User == user && user != "" })
}

// of returns the association of user in account, or nil. It prefers one for the partition. An empty
// user stands for the account itself.
func (l Associations) of(user, account, partition string) *Association {
	var found *Association
	for i := range l {
		a := &l[i]
		if a.User != user || !strings.EqualFold(a.Account, account) {
			continue
		}
		if a.Partition == partition && partition != "" {
			return a
		}
		if a.Partition == "" && found == nil {
			found = a
		}
	}
	return found
}

// upward returns the associations of an account and of each of its parent accounts up to the root.
func (l Associations) upward(account, partition string) []*Association {
	var found []*Association
	for range l { // an account that is its own ancestor ends here
		a := l.of("", account, partition)
		if a == nil {
			break
		}
		found = append(found, a)
		account = a.Parent
	}
	return found
}

// below returns an account and all accounts below it, in lower case.
func (l Associations) below(account string) map[string]bool {
	found := map[string]bool{strings.ToLower(account): true}
	for grew := true; grew; {
		grew = false
		for i := range l {
			a := &l[i]
			if name := strings.ToLower(a.Account); a.User == "" && !found[name] && found[strings.ToLower(a.Parent)] {
				found[name], grew = true, true
			}
		}
	}
	return found
}

// defaultAccount returns the user's default account, or "".
func (l Associations) defaultAccount(user string) string {
	for i := range l {
		if a := &l[i]; a.User == user && a.Default {
			return a.Account
		}
	}
	return ""
}

// root is Slurm's own name of the account above all.
const root = "root"

// defaultQOS returns the QOS that Slurm gives to a job if its user names none, as far as
// associations tell, or "": the default of the user's association or of the nearest parent that has
// one, else the only QOS that the association may use. For a user without an association it is the
// root's default.
func (l Associations) defaultQOS(user, account, partition string) string {
	own := l.of(user, account, partition)
	if own == nil {
		account = root
	} else if own.DefaultQOS != "" {
		return own.DefaultQOS
	}
	for _, a := range l.upward(account, partition) {
		if a.DefaultQOS != "" {
			return a.DefaultQOS
		}
	}
	if own != nil && len(own.QOS) == 1 {
		return own.QOS[0]
	}
	return ""
}
