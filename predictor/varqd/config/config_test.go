package config

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/varq-project/varq/predictor/promise/policy"
	"github.com/varq-project/varq/predictor/promise/trajectory"
)

func TestEmptyFileIsTheDefault(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "client:\n"} {
		c, err := Parse("varq.yaml", []byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(Default(), c); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestParse(t *testing.T) {
	c, err := Parse("varq.yaml", []byte(`
client:
  endpoint: tcp://ctl1:6825
  user: 990
plan: {mode: shadow, prob: 0.95, horizon: 2-00:00:00, max_hold: 2.5, risky_nodes: allow, stale: 10}
watch: {interval: 500ms}
notices: {command: /usr/local/libexec/varq-mail -q, timeout: 5s}
forecasters:
  - {name: lastwait, command: /usr/libexec/lastwait -n 50, timeout: 50ms}
  - name: ours_2
    command: /opt/model/serve
    forecasts: failures
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Client.Endpoint, want.Client.User = "tcp://ctl1:6825", "990"
	want.Plan = Plan{Mode: ModeShadow, Prob: .95, Horizon: Duration(48 * time.Hour), MaxHold: 2.5, RiskyNodes: "allow", Stale: Duration(10 * time.Minute)}
	want.Watch.Interval = Duration(500 * time.Millisecond)
	want.Notices = Notices{Command: "/usr/local/libexec/varq-mail -q", Timeout: Duration(5 * time.Second)}
	want.Forecasters = []Forecaster{
		{Name: "lastwait", Command: "/usr/libexec/lastwait -n 50", Timeout: Duration(50 * time.Millisecond)},
		{Name: "ours_2", Command: "/opt/model/serve", Forecasts: ForecastsFailures},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestPolicy(t *testing.T) {
	c, err := Parse("varq.yaml", []byte(`
policy:
  - {partition: debug, reserve: no}
  - name: students
    account: [students, guests]
    per_user: {reservations: 3}
    per_account: {node_hours: 12.5}
    max_prob: 0.9
    cost: 1.5x
    max_cost: 2
`))
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := policy.Rules{
		{Name: "1", Partitions: []string{"debug"}, Reserve: &no},
		{
			Name: "students", Accounts: []string{"students", "guests"}, PerUser: policy.Limits{Open: 3}, PerAccount: policy.Limits{NodeSeconds: 45000},
			MaxProb: .9, Cost: policy.Cost{Times: 1.5}, MaxCost: policy.Cost{NodeSeconds: 7200},
		},
	}
	if diff := cmp.Diff(want, c.Rules()); diff != "" {
		t.Error(diff)
	}
}

// TestSlurmrestdByNumber: a name such as localhost has several addresses, and anybody may listen at
// one that slurmrestd does not have.
func TestSlurmrestdByNumber(t *testing.T) {
	if at, err := url.Parse(Default().Slurmrestd.URL); err != nil || net.ParseIP(at.Hostname()) == nil {
		t.Errorf("%v, %v", at, err)
	}
}

// TestMaxHoldIsThePlanners: the study of forecasters, and simulations, plan with the default
// max_hold of varqd.
func TestMaxHoldIsThePlanners(t *testing.T) {
	if got := Default().Plan.MaxHold; got != trajectory.DefaultMaxHold {
		t.Errorf("plan.max_hold is %v, and elsewhere %v", got, trajectory.DefaultMaxHold)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"client:\n  endpiont: x\n":                `varq.yaml:2: unknown key "endpiont" in section client`,
		"\nclients: {}\n":                         `varq.yaml:2: unknown key "clients"`,
		"plan:\n  prob: high\n":                   "varq.yaml:2: cannot unmarshal",
		"plan:\n  horizon: soon\n":                `varq.yaml:2: "soon" is not a duration`,
		"plan:\n  horizon: [1]\n":                 "varq.yaml:2: not a duration",
		"plan: {\n":                               "varq.yaml:",
		"plan: {prob: 1.5}\n":                     "plan.prob: 1.5 does not lie between 0 and 1",
		"plan: {prob: .nan}\n":                    "plan.prob: NaN does not lie between 0 and 1",
		"plan: {max_hold: -1}\n":                  "plan.max_hold: -1 is less than 0",
		"plan: {max_hold: .nan}\n":                "plan.max_hold: NaN is less than 0",
		"watch: {interval: 0s}\n":                 "watch.interval: 0s is not more than 0",
		"metrics: {accounts: [a, (others)]}\n":    `metrics.accounts[1]: "(others)" is not a name of an account`,
		"metrics: {accounts: [a, b, A]}\n":        `metrics.accounts[2]: "A" is there twice`,
		"watch: {load: 0}\n":                      "watch.load: 0 is not more than 0 and at most 1",
		"watch: {load: 1.01}\n":                   "watch.load: 1.01 is not more than 0 and at most 1",
		"watch: {load: .nan}\n":                   "watch.load: NaN is not more than 0 and at most 1",
		"watch: {load: 10%}\n":                    "10%",
		"watch: {interval: 1h}\n":                 "watch.interval: 1h0m0s is more than 30m0s",
		"watch: {idle: 1h}\n":                     "watch.idle: 1h0m0s is more than 30m0s",
		"watch: {refresh: 1h}\n":                  "watch.refresh: 1h0m0s is more than 30m0s",
		"plan: {stale: 5m}\n":                     "plan.stale: 5m0s is not more than watch.refresh, 5m0s",
		"forecast: {days: 0}\n":                   "forecast.days: 0 is less than 1",
		"forecasters: [{nam: x}]\n":               `varq.yaml:1: unknown key "nam" in section forecasters`,
		"sites: [{name: A, endpoint: tcp://a:1}]": `sites[0].name: "A" is not a cluster's name`,
		"sites: [{name: a, endpoint: tcp://a:1}, {name: a, endpoint: tcp://b:1}]":    `sites[1].name: "a" is the name of another one`,
		"sites: [{name: all, endpoint: tcp://a:1}]":                                  `sites[0].name: "all" stands for all clusters`,
		"sites: [{name: a, endpoint: a:1}]":                                          `sites[0].endpoint: "a:1" is none of unix:///PATH, tcp://HOST:PORT and tls://HOST:PORT`,
		"server: {peers: [{name: a, power: 3}]}":                                     `varq.yaml:1: unknown key "power" in section server.peers`,
		"sites: [{name: a, users: all}]":                                             `varq.yaml:1: unknown key "users" in section sites`,
		"site: {powr: 3}":                                                            `varq.yaml:1: unknown key "powr" in section site`,
		"sites: [{name: a, endpoint: 'tls://a:1/x'}]":                                `sites[0].endpoint: "tls://a:1/x": tls:// is followed by HOST:PORT alone`,
		"sites: [{name: a, endpoint: 'tls://x/a:1'}]":                                `sites[0].endpoint: "tls://x/a:1": tls:// is followed by HOST:PORT alone`,
		"sites: [{name: a, endpoint: 'tls://u@a:1'}]":                                `sites[0].endpoint: "tls://u@a:1": tls:// is followed by HOST:PORT alone`,
		"sites: [{name: a, endpoint: 'tls://a:x'}]":                                  `sites[0].endpoint: "tls://a:x": tls:// is followed by HOST:PORT alone`,
		"sites: [{name: a, endpoint: 'tls://a:70000'}]":                              `sites[0].endpoint: "tls://a:70000": tls:// is followed by HOST:PORT alone`,
		"sites: [{name: a, endpoint: 'tls://a'}]":                                    `sites[0].endpoint: "tls://a": tls:// is followed by HOST:PORT`,
		"sites: [{name: a, endpoint: 'tls://a:1', munge_socket: /m}]":                `sites[0].endpoint: "tls://a:1": varqds know each other by certificates there`,
		"server: {tls: {listen: 'a:1', certificate: /c}}":                            `server.tls.key: is missing`,
		"server: {tls: {certificate: c, key: /k, ca: /a}}":                           `server.tls.certificate: "c" is not an absolute path`,
		"server: {tls: {listen: a, certificate: /c, key: /k, ca: /a}}":               `server.tls.listen: "a" is not HOST:PORT`,
		"server: {tls: {file: /x}}":                                                  `varq.yaml:1: unknown key "file" in section server.tls`,
		"server: {peers: [{name: a}]}":                                               `server.peers: they need server.tls.listen`,
		"server: {peers: [{name: A}]}":                                               `server.peers[0].name: "A" is not a cluster's name`,
		"server: {peers: [{name: a}, {name: a}]}":                                    `server.peers[1].name: "a" is the name of another one`,
		"server: {peers: [{name: a, users: [all, bob]}]}":                            `server.peers[0].users: "all" stands alone`,
		"server: {peers: [{name: a, users: ['site:b']}]}":                            `server.peers[0].users: "site:b" is not a user's name`,
		"server: {peers: [{name: a, users: [alice, 'bob,carol']}]}":                  `server.peers[0].users: "bob,carol" is not a user's name`,
		"sites: [{name: a, endpoint: tcp://a:1, slurm_conf: slurm.conf}]":            `sites[0].slurm_conf: "slurm.conf" is not an absolute path`,
		"sites: [{name: a, endpoint: tcp://a:1, bin: bin}]":                          `sites[0].bin: "bin" is not an absolute path`,
		"site: {power: -1}":                                                          `site.power: -1 is not that of a processor`,
		"site: {tariff: {scale: [Funday 8-18]}}":                                     `site.tariff: rule "Funday 8-18": `,
		"site: {tariff: {unit_cost: -2}}":                                            `site.tariff: the cost of a unit: -2 is not a price`,
		"site: {tariff: {unit_time: 1ms}}":                                           `site.tariff: the duration of a unit: 0.001 s is not a time`,
		"site: {tariff: {accounts: {chem: -1}}}":                                     `site.tariff: account "chem": -1 is not a factor`,
		"forecasters: [{name: A, command: /x}]":                                      `forecasters[0].name: "A" is not a word`,
		"forecasters: [{name: a, command: /x}, {name: a, command: /y}]":              `forecasters[1].name: "a" is the name of another one`,
		"forecasters: [{name: qbets, command: /x}]":                                  `forecasters[0].name: "qbets" is the name of one that varqd has`,
		"forecasters: [{name: a, command: x}]":                                       `forecasters[0].command: "x" does not begin with an absolute path`,
		"forecasters: [{name: a, command: /x, forecasts: rain}]":                     `forecasters[0].forecasts: "rain" is none of waits, failures`,
		"forecasters: [{name: a}]":                                                   `forecasters[0].command: "" does not begin`,
		"forecasters: [{name: a, command: /x, timeout: -1s}]":                        "forecasters[0].timeout: -1s does not lie between 0s and 1s",
		"forecasters: [{name: a, command: /x, timeout: 1001ms}]":                     "forecasters[0].timeout: 1.001s does not",
		"slurmrestd: {url: \"localhost:6820\"}\n":                                    `slurmrestd.url: "localhost:6820" is none of http://HOST:PORT`,
		"slurmrestd: {url: \"http://\"}\n":                                           `slurmrestd.url: "http://" is none of`,
		"slurmrestd: {url: \"unix:run/socket\"}\n":                                   `slurmrestd.url: "unix:run/socket" is none of`,
		"server: {listen: \"6825\"}\n":                                               `server.listen: "6825" is not HOST:PORT`,
		"policy: [{partitoin: x}]\n":                                                 `varq.yaml:1: unknown key "partitoin" in section policy`,
		"policy:\n- {per_user: {opne: 1}}\n":                                         `varq.yaml:2: unknown key "opne" in section policy (per_user, per_account)`,
		"policy: [{partition: gpu}]\n":                                               "policy[0]: the rule has none of reserve, per_user",
		"policy: [{partition: \"\", reserve: no}]\n":                                 "policy[0].partition: an empty name selects nothing",
		"policy: [{name: a, reserve: no}, {name: a, reserve: yes}]\n":                `policy[1].name: "a" is the name of another one`,
		"policy: [{name: \"2\", reserve: no}, {reserve: yes}]\n":                     `policy[1].name: "2" is the name of another one`,
		"policy: [{reserve: maybe}]\n":                                               "varq.yaml:1: cannot unmarshal",
		"policy: [{per_user: {reservations: 0}}]\n":                                  "policy[0].per_user.reservations: 0 does not lie between 1 and 1000000",
		"policy: [{per_account: {node_hours: .nan}}]\n":                              "policy[0].per_account.node_hours: NaN does not lie above 0",
		"policy: [{max_prob: 1}]\n":                                                  "policy[0].max_prob: 1 does not lie between 0 and 1",
		"policy:\n- {cost: 0.5x}\n":                                                  `varq.yaml:2: "0.5x": a multiple of the quote lies between`,
		"policy: [{max_cost: [2x]}]\n":                                               "varq.yaml:1: not a cost",
		"policy: [{reserve: no, max_prob: 0.8}]\n":                                   "policy[0].reserve: where there are no reservations, the rule's limits mean nothing",
		"policy: [{partition: [gpu, gpu], reserve: no}]\n":                           `policy[0].partition: "gpu" is in the list twice`,
		"policy: [{account: [a, A], reserve: no}]\n":                                 `policy[0].account: "A" is in the list twice`,
		"policy: [{partition: \"gpu,short\", reserve: no}]\n":                        `policy[0].partition: "gpu,short" is not a name; a list is written [a, b]`,
		"policy: [{user: \" bob\", reserve: no}]\n":                                  `policy[0].user: " bob" is not a name`,
		"policy: [{qos: [], reserve: no}]\n":                                         "policy[0].qos: an empty list selects nothing",
		"policy: [{name: \"a\\nb\", reserve: no}]\n":                                 `policy[0].name: "a\nb" has characters`,
		"policy: [{partition: gpu, reserve: yes}, {partition: gpu, reserve: no}]\n":  `policy[1].reserve: rule "1" above selects all that this one does, and decides`,
		"policy: [{name: off, reserve: no}, {partition: gpu, reserve: yes}]\n":       `policy[1].reserve: rule "off" above selects all`,
		"policy: [{account: [a, b], cost: 2x}, {account: A, user: u, cost: 3x}]\n":   `policy[1].cost: rule "1" above selects all`,
		"policy: [{per_user: {reservations: 10}, per_account: {reservations: 5}}]\n": "policy[0].per_user.reservations: 10 is more than the whole account may have, 5",
		"policy: [{per_user: {node_hours: 10}, per_account: {node_hours: 5}}]\n":     "policy[0].per_user.node_hours: 10 is more than the whole account may have, 5",
		"policy: [{per_user: {reservations: 2.5}}]\n":                                `varq.yaml:1: "2.5" is not a whole number`,
		"plan: {mode: dry}\n":                                                        `plan.mode: "dry" is none of live, shadow`,
		"log: {level: loud}\n":                                                       `log.level: "loud" is none of debug, info, warn, error`,
		"ledger: {path: \"\"}\n":                                                     "ledger.path: must not be empty",
		"client: {user: \"\"}\n":                                                     "client.user: must not be empty",
		"client: {}\n---\nclient: {}\n":                                              "more than one YAML document",
		"client: {}\nclient: {endpoint: x}\n":                                        "varq.yaml:2",
		"watch: {interval: 999999999999999h}\n":                                      "is not a duration",
	} {
		_, err := Parse("varq.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What has no meaning is told with its line, or with that of the nearest key above it.
func TestLines(t *testing.T) {
	const text = `plan: {mode: live}
policy:
- name: all
  max_prob: 0.9
- partition: gpu
  per_user:
    reservations: 0
- partition: [a, a]
  reserve: no
server:
  socket: ""
watch:
  interval: 1h
`
	_, err := Parse("varq.yaml", []byte(text))
	for _, want := range []string{
		"varq.yaml:7: policy[1].per_user.reservations: 0 does not lie", `varq.yaml:8: policy[2].partition: "a" is in the list twice`,
		"varq.yaml:11: server.socket: must not be empty", "varq.yaml:13: watch.interval: 1h",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for key, want := range map[string]string{"policy[1].per_user.node_hours": "f:6", "policy[9].name": "f:2", "sites[0]": "f", "policy[x]": "f:2"} {
		if got := where("f", []byte(text), key); got != want {
			t.Errorf("%s is at %s, want %s", key, got, want)
		}
	}
	if got := where("f", []byte("a: &a {b: 1}\nc: *a\n"), "c.b"); got != "f:1" {
		t.Errorf("by an alias: %s", got)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "varq.yaml")
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if err := os.WriteFile(path, []byte("#"+strings.Repeat("x", maxSize)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("huge: %v", err)
	}
	if err := os.WriteFile(path, []byte("client: {munge_socket: /run/m}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); err != nil || c.Client.MungeSocket != "/run/m" {
		t.Errorf("%+v, %v", c.Client, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("client: {endpoint: unix:///x}\nplan: {horizon: 1-0, prob: .5}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		where("fuzz", data, "policy[0].name")
		c, err := Parse("fuzz", data)
		if err == nil && !(c.Plan.Prob > 0 && c.Plan.Prob < 1 && c.Watch.Interval > 0) {
			t.Errorf("%q gives %+v", data, c)
		}
	})
}
