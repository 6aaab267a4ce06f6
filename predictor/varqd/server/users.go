package server

import (
	"os/user"
	"strconv"
	"sync"
	"time"
)

const (
	nameLife  = 5 * time.Minute
	maxCached = 10_000
)

// users remembers the names of user ids for a while: a directory service can
// be slow.
type users struct {
	lookup func(uid uint32) (string, error)
	mu     sync.Mutex
	known  map[uint32]knownUser
}

type knownUser struct {
	name  string
	until time.Time
}

func newUsers(lookup func(uint32) (string, error)) *users {
	if lookup == nil {
		lookup = func(uid uint32) (string, error) {
			u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
			if err != nil {
				return "", err
			}
			return u.Username, nil
		}
	}
	return &users{lookup: lookup, known: map[uint32]knownUser{}}
}

func (u *users) name(uid uint32) (string, error) {
	now := time.Now()
	u.mu.Lock()
	k, ok := u.known[uid]
	u.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.name, nil
	}
	name, err := u.lookup(uid)
	if err != nil {
		return "", err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.known) >= maxCached {
		clear(u.known)
	}
	u.known[uid] = knownUser{name: name, until: now.Add(nameLife)}
	return name, nil
}
