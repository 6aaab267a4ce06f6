// Package slurmconf reads the settings of a slurm.conf that varq compares with its own
// configuration.
package slurmconf

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Bounds of what is read: files that include one another, and bytes of each.
const (
	mostFiles = 100
	mostBytes = 16 << 20
)

// Where slurm.conf is, unless SLURM_CONF says otherwise, and where Slurm's daemons leave it if they
// have it from slurmctld.
var usual = []string{"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"}

// OwnCluster returns the name of the cluster to which the commands of Slurm on this host speak, by
// an environment, or "" if there is no slurm.conf to be read.
func OwnCluster(getenv func(string) string) string {
	paths := usual
	if path := getenv("SLURM_CONF"); path != "" {
		paths = []string{path}
	}
	for _, path := range paths {
		if name, err := ClusterName(path); err == nil {
			return name
		}
	}
	return ""
}

// IsOwn reports whether a list of clusters, as --clusters takes it, has no name but that of one
// cluster, once or more often. The name is "" if it is not known; then no list is its.
func IsOwn(list, cluster string) bool {
	for name := range strings.SplitSeq(list, ",") {
		if name == "" || !strings.EqualFold(name, cluster) {
			return false
		}
	}
	return true
}

// ClusterName returns the ClusterName of a slurm.conf and the files that it includes, in lower case
// as Slurm has it; empty if there is none. The last one counts, as for Slurm. An included file that
// cannot be read, or whose name depends on the cluster's, is left out. The error is that of the
// file itself.
func ClusterName(path string) (string, error) {
	r := reader{folder: filepath.Dir(path)}
	if err := r.read(path); err != nil {
		return "", err
	}
	return strings.ToLower(r.name), nil
}

type reader struct {
	folder string // to which names of included files are relative
	files  int
	name   string
}

var (
	setting = regexp.MustCompile(`(?i)(?:^|\s)clustername\s*=\s*(?:"([^"]*)"|(\S+))`)
	include = regexp.MustCompile(`(?i)^\s*include\s+(\S+)\s*$`)
)

func (r *reader) read(path string) error {
	if r.files++; r.files > mostFiles {
		return fmt.Errorf("%s: more than %d files include one another", path, mostFiles)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, mostBytes))
	lines.Buffer(nil, mostBytes)
	whole := ""
	for lines.Scan() {
		line := lines.Text()
		if begin, more := strings.CutSuffix(line, `\`); more {
			whole += begin
			continue
		}
		r.line(withoutComment(whole + line))
		whole = ""
	}
	r.line(withoutComment(whole))
	return lines.Err()
}

func (r *reader) line(text string) {
	if m := include.FindStringSubmatch(text); m != nil {
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.folder, path)
		}
		if !strings.Contains(path, "%") {
			_ = r.read(path) // what cannot be read is left out
		}
		return
	}
	if m := setting.FindStringSubmatch(text); m != nil {
		r.name = m[1] + m[2]
	}
}

// withoutComment returns a line without what follows a # that has no \ before it.
func withoutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] != '\\') {
			return line[:i]
		}
	}
	return line
}
