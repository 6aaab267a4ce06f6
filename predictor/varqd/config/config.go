// Package config reads varq's configuration file, /etc/varq/varq.yaml. The file is decoded
// strictly: an unknown key is an error that names file and line. Everything has a default, so an
// empty file is valid. The file of a login node needs only the section client.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/varq-project/varq/predictor/api"
)

// DefaultPath is where varq looks for its configuration.
const DefaultPath = "/etc/varq/varq.yaml"

// maxSize bounds the configuration file, in bytes.
const maxSize = 1 << 20

// Config is the whole file.
type Config struct {
	Slurmrestd Slurmrestd `yaml:"slurmrestd"`
	Server     Server     `yaml:"server"`
	Client     Client     `yaml:"client"`
	Agent      Agent      `yaml:"agent"`
	// Site is how the cluster compares with others among which users choose.
	Site SiteItself `yaml:"site"`
	// Sites are the clusters among which users may choose, the one of Client included.
	Sites    []Site   `yaml:"sites"`
	Ledger   Ledger   `yaml:"ledger"`
	History  History  `yaml:"history"`
	Forecast Forecast `yaml:"forecast"`
	// Forecasters are the site's own, beside those that varqd has.
	Forecasters []Forecaster `yaml:"forecasters"`
	Plan        Plan         `yaml:"plan"`
	// Policy has the rules of who may reserve, and how much at once.
	Policy []Rule `yaml:"policy"`
	Watch  Watch  `yaml:"watch"`
	// Notices are told to a program of the site's.
	Notices Notices `yaml:"notices"`
	// Metrics says what Prometheus is told.
	Metrics Metrics `yaml:"metrics"`
	Log     Log     `yaml:"log"`
}

// Slurmrestd says how varqd speaks to Slurm.
type Slurmrestd struct {
	// URL is http://HOST:PORT, https://HOST:PORT or unix:///PATH.
	URL string `yaml:"url"`
	// User is the Slurm user that the token belongs to; empty means the one that
	// varqd runs as.
	User string `yaml:"user"`
	// TokenFile holds a JWT, read again whenever it changes. Not needed on a
	// unix socket.
	TokenFile string `yaml:"token_file"`
	// TokenCommand prints a JWT, as "scontrol token lifespan=3600" does. It is
	// split at spaces and run without a shell, again before the token expires.
	TokenCommand string `yaml:"token_command"`
	// Timeout bounds one request.
	Timeout Duration `yaml:"timeout"`
}

// Server says where varqd listens.
type Server struct {
	// Socket is a unix socket for the users of this host, who are known by
	// their peer credentials.
	Socket string `yaml:"socket"`
	// Listen is HOST:PORT for other hosts, whose users are known by their munge
	// credentials; empty means none.
	Listen string `yaml:"listen"`
	// MungeSocket is munged's socket; empty means munge's own default.
	MungeSocket string `yaml:"munge_socket"`
	// TLS is for the varqds of sites that do not share munge's key.
	TLS TLS `yaml:"tls"`
	// Peers are those of them that may connect.
	Peers []Peer `yaml:"peers"`
}

// Client says how commands find varqd.
type Client struct {
	// Endpoint is unix:///PATH or tcp://HOST:PORT.
	Endpoint string `yaml:"endpoint"`
	// User is whom varqd runs as, by name or id. What anybody else answers is not
	// taken for varqd's answer.
	User string `yaml:"user"`
	// MungeSocket is munged's socket; empty means munge's own default.
	MungeSocket string `yaml:"munge_socket"`
	// Quiet is true if sbatch, srun and salloc are to say nothing of a promise that is made. Refusals
	// are said.
	Quiet bool `yaml:"quiet"`
	// Relay, if not empty, is the site that is meant, to whose varqd the one at Endpoint relays
	// requests.
	Relay string `yaml:"-"`
}

// Agent says whose word about the nodes varqd takes.
type Agent struct {
	// User is whom the nodes' agents run as, by name. Root is believed in any case.
	User string `yaml:"user"`
}

// Ledger says where promises are kept.
type Ledger struct {
	Path string `yaml:"path"`
}

// History says where the cache of Slurm's accounting lies. It may be deleted at
// any time: varqd builds it again.
type History struct {
	Path string `yaml:"path"`
}

// Forecast says how waits are forecast.
type Forecast struct {
	// Confidence is the level of the lower bounds on probabilities that promises
	// rest on, in (0,1).
	Confidence float64 `yaml:"confidence"`
	// Days is how many days of past jobs are kept; those that started last are
	// learnt from.
	Days int `yaml:"days"`
}

// What a Forecaster can forecast.
const (
	ForecastsWaits    = "waits"
	ForecastsFailures = "failures" // of nodes
)

// Forecaster is a program that forecasts waits or failures; see contrib/forecasters.
type Forecaster struct {
	// Name is what it is called in reports: a word in lower case, different for
	// each.
	Name string `yaml:"name"`
	// Command is split at spaces and run without a shell, as varqd's own user.
	// It begins with an absolute path.
	Command string `yaml:"command"`
	// Forecasts is ForecastsWaits, for which it stands if empty, or ForecastsFailures.
	Forecasts string `yaml:"forecasts"`
	// Timeout bounds one answer, and so what a plan may wait for it; 0 stands
	// for 20ms, of a forecaster of failures, for which no plan waits, for 1s.
	Timeout Duration `yaml:"timeout"`
}

// Notices says which program is told what becomes of promises, such as one that sends mail.
type Notices struct {
	// Command is split at spaces and run without a shell, as varqd's own user, once for each
	// notice. It begins with an absolute path; empty means none.
	Command string `yaml:"command"`
	// Timeout bounds one run of it.
	Timeout Duration `yaml:"timeout"`
}

// The modes of varqd.
const (
	ModeLive   = "live"   // it makes promises, and changes jobs to keep them
	ModeShadow = "shadow" // it only watches, and scores what it would have promised
)

// Plan bounds and fills in what users ask for.
type Plan struct {
	// Mode is ModeLive or ModeShadow.
	Mode string `yaml:"mode"`
	// Prob is the success probability of those who ask for none.
	Prob float64 `yaml:"prob"`
	// Horizon is how long before its deadline a job may become eligible.
	Horizon Duration `yaml:"horizon"`
	// MaxHold is how long a job may hold its nodes before its work, in time limits of
	// the work; an hour it always may. 0 is not a bound.
	MaxHold float64 `yaml:"max_hold"`
	// RiskyNodes is what jobs do with nodes that are likely to fail, unless their users say: avoid
	// or allow.
	RiskyNodes string `yaml:"risky_nodes"`
	// Stale is how old varqd's picture of the cluster (partitions, limits) may
	// grow, with Slurm out of reach, before it makes no more promises.
	Stale Duration `yaml:"stale"`
}

// Watch says how often varqd looks at the queue.
type Watch struct {
	// Interval is the time between two looks while reservations are open.
	Interval Duration `yaml:"interval"`
	// Idle is the time between two looks otherwise.
	Idle Duration `yaml:"idle"`
	// Load is the greatest share of the time for which varqd keeps slurmrestd busy, as long as that
	// answers. Where looks at the whole queue would take more, there are fewer of them.
	Load float64 `yaml:"load"`
	// Refresh is the time between two readings of accounting and limits.
	Refresh Duration `yaml:"refresh"`
	// Grace is how long after its begin time a plan that no job has taken up is
	// closed as never submitted.
	Grace Duration `yaml:"grace"`
}

// Log says what varqd logs to standard error.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn or error
	Format string `yaml:"format"` // text or json
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		Slurmrestd: Slurmrestd{
			URL:          "http://127.0.0.1:6820",
			TokenCommand: "scontrol token lifespan=3600",
			Timeout:      Duration(30 * time.Second),
		},
		Server:   Server{Socket: "/run/varq/varqd.sock"},
		Client:   Client{Endpoint: "unix:///run/varq/varqd.sock", User: "varq"},
		Agent:    Agent{User: "root"},
		Ledger:   Ledger{Path: "/var/lib/varq/ledger.db"},
		History:  History{Path: "/var/cache/varq/history.db"},
		Forecast: Forecast{Confidence: .95, Days: 180},
		Plan:     Plan{Mode: ModeLive, Prob: .9, Horizon: Duration(7 * 24 * time.Hour), MaxHold: 4, RiskyNodes: api.RiskyAvoid, Stale: Duration(15 * time.Minute)},
		Watch: Watch{
			Interval: Duration(5 * time.Second),
			Idle:     Duration(20 * time.Second),
			Load:     .1,
			Refresh:  Duration(5 * time.Minute),
			Grace:    Duration(5 * time.Minute),
		},
		Notices: Notices{Timeout: Duration(30 * time.Second)},
		Log:     Log{Level: "info", Format: "text"},
	}
}

// Load reads the file path over the defaults. The error of a missing file is
// fs.ErrNotExist; every other one begins with path:line where a line is to
// blame.
func Load(path string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(data) > maxSize {
		return Config{}, fmt.Errorf("%s: larger than %d bytes", path, maxSize)
	}
	return Parse(path, data)
}

// Parse decodes a configuration over the defaults and checks its values; name
// stands for the file in errors.
func Parse(name string, data []byte) (Config, error) {
	c := Default()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, located(name, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("%s: more than one YAML document", name)
	}
	if err := c.check(func(key string) string { return where(name, data, key) }); err != nil {
		return Config{}, err
	}
	return c, nil
}

var (
	lineOf     = regexp.MustCompile(`^(?:yaml: )?line (\d+): (?s:(.*))$`)
	unknownKey = regexp.MustCompile(`^field (\S+) not found in type config\.(\w+)$`)
)

// sections are the keys of those types that are not called as their key.
var sections = map[string]string{
	"SiteItself": "site", "Site": "sites", "TLS": "server.tls", "Peer": "server.peers", "Forecaster": "forecasters", "Rule": "policy",
	"Open": "policy (per_user, per_account)",
}

// located turns the YAML package's errors into one line each, name:line: what.
func located(name string, err error) error {
	texts := []string{err.Error()}
	var typeErr *yaml.TypeError
	if errors.As(err, &typeErr) {
		texts = typeErr.Errors
	}
	var errs []error
	for _, text := range texts {
		line, what := "", text
		if m := lineOf.FindStringSubmatch(text); m != nil {
			line, what = ":"+m[1], m[2]
		}
		if m := unknownKey.FindStringSubmatch(what); m != nil {
			what = fmt.Sprintf("unknown key %q", m[1])
			if m[2] != "Config" {
				what += " in section " + cmp.Or(sections[m[2]], strings.ToLower(m[2]))
			}
		}
		errs = append(errs, fmt.Errorf("%s%s: %s", name, line, what))
	}
	return errors.Join(errs...)
}

// longestPause bounds the time between two looks at Slurm. Of one who looks less
// often, much is missed each time.
const longestPause = Duration(30 * time.Minute)

// check refuses values that no part of varq could work with. where returns the file of a key, and
// its line.
func (c *Config) check(where func(key string) string) error {
	var errs []error
	bad := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s: "+format, append([]any{where(key), key}, args...)...))
	}
	probability := func(key string, p float64) {
		if !(p > 0 && p < 1) {
			bad(key, "%v does not lie between 0 and 1", p)
		}
	}
	positive := func(key string, d Duration) {
		if d <= 0 {
			bad(key, "%v is not more than 0", d)
		}
	}
	pause := func(key string, d Duration) {
		positive(key, d)
		if d > longestPause {
			bad(key, "%v is more than %v", d, longestPause)
		}
	}
	oneOf := func(key, value string, of ...string) {
		for _, v := range of {
			if value == v {
				return
			}
		}
		bad(key, "%q is none of %s", value, strings.Join(of, ", "))
	}
	probability("forecast.confidence", c.Forecast.Confidence)
	probability("plan.prob", c.Plan.Prob)
	if c.Forecast.Days < 1 {
		bad("forecast.days", "%d is less than 1", c.Forecast.Days)
	}
	checkForecasters(c.Forecasters, bad)
	if command := strings.TrimSpace(c.Notices.Command); command != "" && !filepath.IsAbs(command) {
		bad("notices.command", "%q does not begin with an absolute path", c.Notices.Command)
	}
	positive("notices.timeout", c.Notices.Timeout)
	if !reachable(c.Slurmrestd.URL) {
		bad("slurmrestd.url", "%q is none of http://HOST:PORT, https://HOST:PORT and unix:///PATH", c.Slurmrestd.URL)
	}
	if _, _, err := net.SplitHostPort(c.Server.Listen); c.Server.Listen != "" && err != nil {
		bad("server.listen", "%q is not HOST:PORT", c.Server.Listen)
	}
	positive("slurmrestd.timeout", c.Slurmrestd.Timeout)
	positive("plan.horizon", c.Plan.Horizon)
	if !(c.Plan.MaxHold >= 0) {
		bad("plan.max_hold", "%v is less than 0", c.Plan.MaxHold)
	}
	positive("plan.stale", c.Plan.Stale)
	pause("watch.interval", c.Watch.Interval)
	pause("watch.idle", c.Watch.Idle)
	if !(c.Watch.Load > 0 && c.Watch.Load <= 1) {
		bad("watch.load", "%v is not more than 0 and at most 1", c.Watch.Load)
	}
	pause("watch.refresh", c.Watch.Refresh)
	positive("watch.grace", c.Watch.Grace)
	if c.Plan.Stale <= c.Watch.Refresh {
		bad("plan.stale", "%v is not more than watch.refresh, %v", c.Plan.Stale, c.Watch.Refresh)
	}
	oneOf("plan.risky_nodes", c.Plan.RiskyNodes, api.RiskyAvoid, api.RiskyAllow)
	oneOf("plan.mode", c.Plan.Mode, ModeLive, ModeShadow)
	checkPolicy(c.Policy, bad)
	checkSites(c.Sites, bad)
	c.Server.checkTLS(bad)
	c.Metrics.check(bad)
	if _, err := c.Site.Tariff.tariff(time.UTC); err != nil {
		bad("site.tariff", "%v", err)
	}
	if !(c.Site.Power >= 0 && c.Site.Power <= 1e12) {
		bad("site.power", "%v is not that of a processor", c.Site.Power)
	}
	oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	oneOf("log.format", c.Log.Format, "text", "json")
	for _, needed := range []struct{ key, value string }{
		{"server.socket", c.Server.Socket}, {"client.user", c.Client.User}, {"agent.user", c.Agent.User}, {"ledger.path", c.Ledger.Path}, {"history.path", c.History.Path},
	} {
		if needed.value == "" {
			bad(needed.key, "must not be empty")
		}
	}
	return errors.Join(errs...)
}

// reachable reports whether text is an address of slurmrestd.
func reachable(text string) bool {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		return strings.HasPrefix(strings.TrimPrefix(path, "//"), "/")
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// forecasterName is what a forecaster may be called.
var forecasterName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// builtIn are the names of the forecasters that varqd has, alone and together.
var builtIn = []string{
	"blend", "history", "present", "later", "forest", "simulation", "ahead", "qbets", "twin", "downey", "completion",
	"model", "sets", "constant", "rates", "fading", "features", // of failures
}

// longestAnswer bounds the time for which a site's forecaster may hold up a plan.
const longestAnswer = Duration(time.Second)

func checkForecasters(forecasters []Forecaster, bad func(key, format string, args ...any)) {
	names := map[string]bool{}
	for i, f := range forecasters {
		key := fmt.Sprintf("forecasters[%d].", i)
		switch {
		case !forecasterName.MatchString(f.Name):
			bad(key+"name", "%q is not a word of at most 32 of a-z, 0-9, - and _, beginning with a letter", f.Name)
		case slices.Contains(builtIn, f.Name):
			bad(key+"name", "%q is the name of one that varqd has", f.Name)
		case names[f.Name]:
			bad(key+"name", "%q is the name of another one", f.Name)
		}
		names[f.Name] = true
		if !filepath.IsAbs(strings.TrimSpace(f.Command)) {
			bad(key+"command", "%q does not begin with an absolute path", f.Command)
		}
		if !slices.Contains([]string{"", ForecastsWaits, ForecastsFailures}, f.Forecasts) {
			bad(key+"forecasts", "%q is none of %s, %s", f.Forecasts, ForecastsWaits, ForecastsFailures)
		}
		if f.Timeout < 0 || f.Timeout > longestAnswer {
			bad(key+"timeout", "%v does not lie between 0s and %v", f.Timeout, longestAnswer)
		}
	}
}
