package peers

import (
	"errors"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	p := New(Options{Users: map[string][]string{"alpha": nil, "beta": nil}, Now: time.Now})
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"alpha"}, "alpha"},
		{[]string{"www.example.org", "beta", "beta"}, "beta"},
		{[]string{"alpha", "beta"}, ""},
		{[]string{"gamma", "*", "ALPHA", "alpha.", ""}, ""},
		{nil, ""},
	} {
		if got, err := p.Of(c.names); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v", c.names, got, err)
		}
	}
}

func TestSpeaks(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	asked := 0
	uids := map[string]uint32{"root": 0, "toor": 0, "daemon": 1, "polkitd": 999, "nobody": 65534, "alice": 1000, "olga": 1001, "varq": 1002}
	p := New(Options{
		Users: map[string][]string{"named": {"alice", "root", "olga", "varq", "mallory"}, "all": {All}, "none": nil},
		Own:   "varq", Operator: func(user string) bool { return user == "olga" }, Now: func() time.Time { return now },
		UID: func(user string) (uint32, error) {
			asked++
			if uid, ok := uids[user]; ok {
				return uid, nil
			}
			return 0, errors.New("no such user")
		},
	})
	may := map[string]map[string]bool{
		// the administrator has named them
		"named": {"alice": true, "root": true, "olga": true, "mallory": true},
		"all":   {"alice": true},
	}
	for _, site := range []string{"named", "all", "none", "unknown", ""} {
		for _, user := range []string{"alice", "root", "toor", "daemon", "polkitd", "nobody", "olga", "varq", "mallory", "", "all", "site:all", "site:named"} {
			if got := p.Speaks(site, user); got != may[site][user] {
				t.Errorf("site %q for %q: %v", site, user, got)
			}
		}
	}
	// Numbers are remembered for a while.
	asked = 0
	p.Speaks("all", "alice")
	now = now.Add(uidLife)
	p.Speaks("all", "alice")
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	for i := range 2 * maxKnown {
		p.Speaks("all", string(rune('a'+i%26))+string(rune(0x4e00+i)))
	}
	if len(p.known) > maxKnown {
		t.Errorf("%d are remembered", len(p.known))
	}
}

func TestUser(t *testing.T) {
	if site, is := Site(User("alpha")); site != "alpha" || !is {
		t.Errorf("%q, %v", site, is)
	}
	if _, is := Site("alpha"); is {
		t.Error("alpha is a user")
	}
}

// A directory may know a user by several names, but only one of them is hers.
func TestLookUp(t *testing.T) {
	if uid, err := LookUp("root"); err != nil || uid != 0 {
		t.Errorf("%d, %v", uid, err)
	}
	for _, name := range []string{"0", "no such user", ""} {
		if uid, err := LookUp(name); err == nil {
			t.Errorf("%q is %d", name, uid)
		}
	}
}
