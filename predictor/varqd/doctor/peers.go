package doctor

import (
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/peers"
)

// mayConnect examines the sites whose varqds may connect. look returns the number of a user of this
// host.
func mayConnect(c *config.Config, look func(name string) (uint32, error)) []Finding {
	own, sites := ownName(c), c.SiteClients()
	var findings []Finding
	for i, p := range c.Server.Peers {
		of := fmt.Sprintf("server.peers[%d]", i)
		found := speaksFor(of+".users", p.Users, own, look)
		if _, both := sites[p.Name]; !both {
			found = append(found, warning(of+".name", p.Name+" may connect, but sites has no varqd of that name: nothing is relayed there, and no job here can belong to a group (--any-of, --all-of) whose home is there",
				"name it in sites, too, with its endpoint, unless there are to be no such groups"))
		}
		if found == nil {
			found = []Finding{ok(of, "%s may speak for %s", p.Name, howMany(p.Users))}
		}
		findings = append(findings, found...)
	}
	return findings
}

// ownName returns the name of varqd's own user.
func ownName(c *config.Config) string {
	if u, err := user.LookupId(c.Client.User); err == nil {
		return u.Username
	}
	return c.Client.User
}

func howMany(users []string) string {
	switch {
	case slices.Equal(users, []string{peers.All}):
		return "all users"
	case len(users) == 0:
		return "no users"
	case len(users) == 1:
		return "1 user"
	}
	return fmt.Sprintf("%d users", len(users))
}

// maxTold bounds how many names one finding has.
const maxTold = 10

// speaksFor examines the users for whom a site may speak.
func speaksFor(of string, users []string, own string, look func(name string) (uint32, error)) []Finding {
	if slices.Equal(users, []string{peers.All}) {
		return nil
	}
	var findings []Finding
	if slices.Contains(users, own) {
		findings = append(findings, warning(of, own+" is varqd's own user, for whom nobody may speak", "take the name out"))
	}
	var strange []string
	for _, name := range users {
		if name == own {
			continue
		}
		_, err := look(name)
		if unknown := user.UnknownUserError(""); errors.As(err, &unknown) {
			strange = append(strange, name)
		} else if err != nil {
			// A directory that does not answer once would keep the check waiting for each name.
			findings = append(findings, warning(of, fmt.Sprintf("%s: %v", name, err), "see to it that this host finds its users: getent passwd "+name))
			break
		}
	}
	if len(strange) > 0 {
		told := strings.Join(strange[:min(len(strange), maxTold)], ", ")
		if more := len(strange) - maxTold; more > 0 {
			told += fmt.Sprintf(" and %d more", more)
		}
		findings = append(findings, warning(of, "no user of this host is called "+told, "correct the name, or take it out: users have the same names at both sites"))
	}
	return findings
}
