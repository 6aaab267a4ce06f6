package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFindSite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "varq.yaml")
	if err := os.WriteFile(path, []byte(`client: {munge_socket: /run/m, user: "991"}
sites:
  - {name: alpha, endpoint: unix:///run/varq/varqd.sock}
  - {name: beta, endpoint: "tcp://beta:6830", user: varqd, munge_socket: /run/beta, slurm_conf: /etc/slurm/beta.conf, bin: /opt/beta/bin}
  - {name: delta, endpoint: "tls://delta:6831"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		return map[string]string{"VARQ_CONFIG": path, "VARQ_ENDPOINT": "unix:///elsewhere"}[name]
	}
	for name, want := range map[string]Client{
		"alpha": {Endpoint: "unix:///run/varq/varqd.sock", User: "991", MungeSocket: "/run/m"},
		"beta":  {Endpoint: "tcp://beta:6830", User: "varqd", MungeSocket: "/run/beta"},
		// by this host's varqd
		"delta": {Endpoint: "unix:///elsewhere", User: "991", MungeSocket: "/run/m", Relay: "delta"},
	} {
		if got, err := FindSite(getenv, name); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := FindSite(getenv, "gamma"); err == nil || !strings.HasSuffix(err.Error(), "varq.yaml: there are alpha, beta, delta") {
		t.Error(err)
	}
	if sites, err := FindSites(getenv); err != nil || len(sites) != 3 || sites[1].SlurmConf != "/etc/slurm/beta.conf" {
		t.Errorf("%+v, %v", sites, err)
	}
	none := func(string) string { return "/nowhere/varq.yaml" }
	if _, err := FindSite(none, "gamma"); err == nil || !strings.HasSuffix(err.Error(), "has no section sites") {
		t.Error(err)
	}
}

// Without a tariff a billing unit costs 1 an hour.
func TestPrices(t *testing.T) {
	for text, want := range map[string]struct {
		cost float64
		unit string
	}{
		"": {8, "billing-hours"},
		"site: {tariff: {unit: EUR, unit_cost: 0.5, unit_time: 30m, scale: ['Mon-Sun: 3'], accounts: {chem: 0.5}}}": {12, "EUR"},
	} {
		c, err := Parse("varq.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		prices, unit := c.Site.Prices(time.UTC)
		if got := prices.Cost(4, 1800000000, 1800007200, "chem"); got != want.cost || unit != want.unit {
			t.Errorf("%q: %v %s, wanted %v", text, got, unit, want)
		}
	}
}

// varqd finds its own name among the sites by the endpoint at which clients, or other sites, reach
// it.
func TestOwnSite(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"sites: [{name: a, endpoint: tcp://a:1}]":                                                                     "",
		"sites: [{name: a, endpoint: tcp://a:1}, {name: b, endpoint: unix:///run/varq/varqd.sock}]":                   "b",
		"server: {listen: 'h:7'}\nsites: [{name: a, endpoint: tcp://a:1}, {name: b, endpoint: 'tcp://h:7'}]":          "b",
		"client: {endpoint: 'tcp://h:8'}\nsites: [{name: a, endpoint: 'tcp://h:8'}]":                                  "a",
		"server: {socket: /s}\nsites: [{name: a, endpoint: unix:///s}]":                                               "a",
		"server: {tls: {listen: 'h:9', certificate: /c, key: /k, ca: /a}}\nsites: [{name: a, endpoint: 'tls://h:9'}]": "a",
	} {
		c, err := Parse("varq.yaml", []byte(text))
		if err != nil || c.OwnSite() != want {
			t.Errorf("%s: %q, %v; want %q", text, c.OwnSite(), err, want)
		}
	}
}

func TestPeers(t *testing.T) {
	c, err := Parse("varq.yaml", []byte("server: {tls: {listen: 'h:9', certificate: /c, key: /k, ca: /a}, peers: [{name: alpha, users: [alice, bob]}, {name: beta, users: all}, {name: gamma}]}"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"alpha": {"alice", "bob"}, "beta": {"all"}, "gamma": nil}
	if diff := cmp.Diff(want, c.Server.PeerUsers()); diff != "" || !c.Server.TLS.Given() {
		t.Error(diff)
	}
}

const bareSite = "sites: [{name: a, endpoint: tcp://a:1}, {name: b, slurmrestd: {url: 'http://b:6820', token_file: /t}"

// A site without varqd has a slurmrestd instead, and a method.
func TestBareSite(t *testing.T) {
	c, err := Parse("varq.yaml", []byte(bareSite+", estimate: static, static_scale: 2h, late: 90m, power: 7, tariff: {unit: EUR, unit_cost: 3}, slurm_conf: /b.conf}]"))
	if err != nil {
		t.Fatal(err)
	}
	b := &c.Sites[1]
	prices, unit := b.Prices(time.UTC)
	if !b.HasNoVarqd() || b.Method() != "static" || b.Scale() != 7200 || b.Lateness() != 5400 || unit != "EUR" || prices.Cost(1, 0, 3600, "") != 3 {
		t.Errorf("%+v", b)
	}
	if clients := c.SiteClients(); len(clients) != 1 || clients["a"].Endpoint != "tcp://a:1" || c.Sites[0].HasNoVarqd() {
		t.Errorf("%+v", clients)
	}
	if c, err = Parse("varq.yaml", []byte(bareSite+"}]")); err != nil || c.Sites[1].Method() != "load" || c.Sites[1].Scale() != 18000 || c.Sites[1].Lateness() != 86400 {
		t.Errorf("%+v, %v", c.Sites, err)
	}
	path := filepath.Join(t.TempDir(), "varq.yaml")
	if err := os.WriteFile(path, []byte(bareSite+"}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"VARQ_CONFIG": path}[name] }
	if _, err := FindSite(getenv, "b"); err == nil || err.Error() != "cluster b has no varqd: only varq reserve and varq sites know it" {
		t.Error(err)
	}
	for more, want := range map[string]string{
		", estimate: guess}]":         `sites[1].estimate: "guess" is none of static, history, load`,
		", late: 1000h}]":             "sites[1].late: 1000h0m0s does not lie between 1s and 720h0m0s",
		", static_scale: -1h}]":       "sites[1].static_scale: -1h0m0s is less than 0",
		", power: -1}]":               "sites[1].power: -1 is not that of a processor",
		", tariff: {unit_cost: -1}}]": "sites[1].tariff: ",
		", endpoint: 'tcp://b:1'}]":   "sites[1].slurmrestd: it stands for a cluster without varqd, of which endpoint, user and munge_socket are: leave it out, or them",
		", estimates: load}]":         `unknown key "estimates"`,
		"}, {name: c, endpoint: 'tcp://c:1', estimate: load}]": "sites[2].estimate: it is of a cluster without varqd, which has the key slurmrestd; the varqd of this one says it itself",
		"}, {name: c}]": `sites[2].endpoint: "" is none of`,
		"}, {name: c, endpoint: 'tcp://c:1', partition: p}]": "sites[2].partition: it is of a cluster without varqd",
		"}, {name: c, slurmrestd: {}}]":                      `sites[2].slurmrestd.url: "" is none of`,
		"}, {name: c, slurmrestd: {u: 1}}]":                  `unknown key "u" in section slurmrestd`,
	} {
		if _, err := Parse("varq.yaml", []byte(bareSite+more)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", more, err)
		}
	}
}
