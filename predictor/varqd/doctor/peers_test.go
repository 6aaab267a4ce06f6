package doctor

import (
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// Of those who may connect it is told for whom they cannot speak, and that they are to be reached,
// too.
func TestPeers(t *testing.T) {
	look := func(name string) (uint32, error) {
		switch {
		case name == "slow":
			return 0, errors.New("the directory does not answer")
		case slices.Contains([]string{"alice", "bob", "root", "varq"}, name):
			return 1, nil
		}
		return 0, user.UnknownUserError(name)
	}
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("no%d", i))
	}
	both := []config.Site{{Name: "alpha", Endpoint: "unix:///run/varq/varqd.sock"}, {Name: "beta", Endpoint: "tls://h:1"}}
	for name, test := range map[string]struct {
		users []string
		sites []config.Site
		want  []string
	}{
		"good":    {[]string{"alice", "root"}, both, []string{"ok server.peers[0] beta may speak for 2 users"}},
		"all":     {[]string{"all"}, both, []string{"ok server.peers[0] beta may speak for all users"}},
		"nobody":  {nil, both, []string{"ok server.peers[0] beta may speak for no users"}},
		"strange": {[]string{"alice", "nixda"}, both, []string{`warning server.peers[0].users no user of this host is called nixda`}},
		"its own": {[]string{"99999999", "bob"}, both, []string{"warning server.peers[0].users 99999999 is varqd's own user, for whom nobody may speak"}},
		// and nobody waits for it again
		"slow":     {[]string{"slow", "nixda"}, both, []string{"warning server.peers[0].users slow: the directory does not answer"}},
		"many":     {many, both, []string{"warning server.peers[0].users no user of this host is called no0, no1, no2, no3, no4, no5, no6, no7, no8, no9 and 290 more"}},
		"no site":  {[]string{"alice"}, both[:1], []string{"warning server.peers[0].name beta may connect, but sites has no varqd of that name"}},
		"no varqd": {[]string{"alice", "bob"}, []config.Site{{Name: "beta", Bare: config.Bare{Slurmrestd: &config.Slurmrestd{}}}}, []string{"warning server.peers[0].name beta may connect, but sites has no varqd of that name"}},
	} {
		c := config.Default()
		c.Client.User = "99999999" // whom this host need not know
		c.Sites, c.Server.Peers = test.sites, []config.Peer{{Name: "beta", Users: test.users}}
		got := mayConnect(&c, look)
		if len(got) != len(test.want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, f := range got {
			if told := fmt.Sprintf("%s %s %s", f.Verdict, f.Of, f.Found); !strings.HasPrefix(told, test.want[i]) || (f.Verdict == OK) != (f.Remedy == "") {
				t.Errorf("%s: %+v, want %q", name, f, test.want[i])
			}
		}
	}
	c := config.Default()
	if got := mayConnect(&c, look); got != nil {
		t.Errorf("of nobody: %+v", got)
	}
}

// It is told with what varqd's configuration names.
func TestPeersAmongFiles(t *testing.T) {
	c := config.Default()
	c.Server.Peers = []config.Peer{{Name: "beta", Users: []string{"no user"}}}
	if !slices.ContainsFunc(Files(&c), func(f Finding) bool { return f.Of == "server.peers[0].users" && f.Verdict == Warning }) {
		t.Errorf("%+v", Files(&c))
	}
}
