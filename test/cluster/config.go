package cluster

import (
	"bufio"
	"crypto/rand"
	"embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "templates/*.tmpl"))

const databaseName = "slurm_acct_db"

// settings holds the values that the templates use.
type settings struct {
	state
	DatabaseName string
	Host         string
	MungeSocket  string
	CliFilter    bool
	Threads      int // CPUs of a core
	NodeConf     string
	Kinds        []Kind
	Cloud        bool
	Accounts     []string
	Users        []User
}

// Cores returns how many cores a node has.
func (s settings) Cores() int { return s.CPUs / s.Threads }

// nodeLine is a line of slurm.conf: nodes alike, by their numbers and the ports of their slurmds.
type nodeLine struct {
	First, Last, FirstPort, LastPort int
	Conf                             string
}

// NodeLines returns the lines of all nodes, one a kind.
func (s settings) NodeLines() (lines []nodeLine) {
	kinds := s.Kinds
	if rest := s.Nodes - (Options{Kinds: kinds}).ofKinds(); rest > 0 {
		kinds = append(slices.Clip(kinds), Kind{Nodes: rest})
	}
	next := 0
	for _, k := range kinds {
		first, last := next, next+k.Nodes-1
		lines = append(lines, nodeLine{first + 1, last + 1, s.Ports.Slurmd + first, s.Ports.Slurmd + last, k.Conf})
		next += k.Nodes
	}
	return lines
}

// ShortNodes returns the number of nodes in the partition short. They are the cluster's first
// nodes.
func (s state) ShortNodes() int { return ShortNodes(s.Nodes) }

// ShortNodes returns how many of a cluster's nodes the partition short has.
func ShortNodes(nodes int) int { return max(1, nodes/4) }

func (c *Cluster) settings(o Options) (settings, error) {
	host, err := os.Hostname()
	if err != nil {
		return settings{}, err
	}
	host, _, _ = strings.Cut(host, ".")
	return settings{
		state: c.state, DatabaseName: databaseName, Host: host,
		MungeSocket: c.MungeSocket(), CliFilter: o.CliFilter != "", Threads: o.Threads, NodeConf: o.NodeConf, Kinds: o.Kinds, Cloud: o.Boot != 0, Accounts: accounts(), Users: o.users(),
	}, nil
}

// configure writes everything under etc/.
func (c *Cluster) configure(o Options) error {
	s, err := c.settings(o)
	if err != nil {
		return err
	}
	slurmConf, err := render("slurm.conf.tmpl", s)
	if err != nil {
		return err
	}
	slurmdbdConf, err := render("slurmdbd.conf.tmpl", s)
	if err != nil {
		return err
	}
	associations, err := render("accounts.tmpl", s)
	if err != nil {
		return err
	}
	cgroupConf := "CgroupAutomount=no\n"
	if c.Version != Slurm2205 {
		cgroupConf = "CgroupPlugin=disabled\n"
	}
	mungeKey, tokenKey := randomKey(128), randomKey(32)
	if o.Beside != nil {
		if mungeKey, err = o.Beside.key(mungeKeyFile); err != nil {
			return err
		}
		if tokenKey, err = o.Beside.key(tokenKeyFile); err != nil {
			return err
		}
	}
	files := []struct {
		name, text, owner string
		mode              os.FileMode
	}{
		{"slurm.conf", override(slurmConf, o.SlurmConf), "root", 0o644},
		{"slurmdbd.conf", slurmdbdConf, "slurm", 0o600},
		{"cgroup.conf", cgroupConf, "root", 0o644},
		{"accounts", associations, "root", 0o644},
		// Slurm complains about an empty plugstack.conf, so the file begins with a comment.
		{"plugstack.conf", "# SPANK plugins\n" + o.PlugStack + "\n", "root", 0o644},
		{mungeKeyFile, mungeKey, "munge", 0o400},
		{tokenKeyFile, tokenKey, "slurm", 0o400},
	}
	for _, f := range files {
		if err := c.writeFile(f.name, f.text, f.owner, f.mode); err != nil {
			return err
		}
	}
	if o.Boot != 0 {
		for _, word := range []string{powerUp, powerDown} {
			if err := c.writeFile("power-"+word, c.powerProgram(word), "root", 0o755); err != nil {
				return err
			}
		}
	}
	if o.GresConf != "" {
		if err := c.writeFile("gres.conf", o.GresConf, "root", 0o644); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"cli_filter.lua": o.CliFilter, "job_submit.lua": o.JobSubmit} {
		if text != "" {
			if err := c.writeFile(name, text, "root", 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// The files with the keys of munge and of slurmrestd's tokens.
const (
	mungeKeyFile = "munge.key"
	tokenKeyFile = "jwt.key"
)

func (f folder) key(name string) (string, error) {
	text, err := os.ReadFile(f.Path("etc", name))
	return string(text), err
}

func (c *Cluster) writeFile(name, text, owner string, mode os.FileMode) error {
	path := c.Path("etc", name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return err
	}
	return c.chown(path, owner)
}

func render(name string, s settings) (string, error) {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, s); err != nil {
		return "", fmt.Errorf("rendering %s: %w", name, err)
	}
	return b.String(), nil
}

func randomKey(size int) string {
	key := make([]byte, size)
	rand.Read(key)
	return string(key)
}

// override returns conf with the lines of extra. A line of extra replaces the line of conf
// that sets the same thing. If conf has no such line, override appends the line.
func override(conf, extra string) string {
	lines := strings.Split(strings.TrimRight(conf, "\n"), "\n")
	at := make(map[string]int, len(lines))
	for i, line := range lines {
		at[settingName(line)] = i
	}
	for s := bufio.NewScanner(strings.NewReader(extra)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if line == "" {
			continue
		}
		if i, ok := at[settingName(line)]; ok {
			lines[i] = line
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// settingName returns the name of what a line of slurm.conf sets. For a node or a partition
// this is the whole first word, such as "nodename=node1"; otherwise it is the parameter. The
// name is in lower case, because Slurm ignores case.
func settingName(line string) string {
	first, _, _ := strings.Cut(line, " ")
	name, _, _ := strings.Cut(first, "=")
	name = strings.ToLower(name)
	switch name {
	case "nodename", "partitionname":
		return strings.ToLower(first)
	}
	return name
}
