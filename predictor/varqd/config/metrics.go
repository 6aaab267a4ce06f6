package config

import (
	"fmt"
	"regexp"
	"strings"
)

// mostAccounts is how many accounts Metrics may name.
const mostAccounts = 64

// Metrics says what Prometheus is told, and with it everybody.
type Metrics struct {
	// Accounts are those of whose jobs' waits there are histograms. All others are taken together.
	Accounts []string `yaml:"accounts"`
}

func (m *Metrics) check(bad func(key, format string, args ...any)) {
	if len(m.Accounts) > mostAccounts {
		bad("metrics.accounts", "%d accounts are more than %d", len(m.Accounts), mostAccounts)
	}
	seen := map[string]bool{}
	for i, account := range m.Accounts {
		key, name := fmt.Sprintf("metrics.accounts[%d]", i), strings.ToLower(account)
		switch {
		case !accountName.MatchString(account):
			bad(key, "%q is not a name of an account", account)
		case seen[name]:
			bad(key, "%q is there twice", account)
		}
		seen[name] = true
	}
}

// accountName is what an account in Metrics may be called. A name in brackets would be that of all
// others.
var accountName = regexp.MustCompile(`^[^\s()]{1,64}$`)
