package cluster

import (
	"fmt"
	"os"
	"strings"
)

// LogFile returns the name of a daemon's own log. Munged and MariaDB have none;
// what they print is in LogTail.
func (c *Cluster) LogFile(d Daemon) string { return c.Path("log", string(d)+".log") }

// outFile takes what a daemon prints.
func (c *Cluster) outFile(d Daemon) string { return c.Path("log", string(d)+".out") }

// LogTail returns the last lines that a daemon logged or, if it has no log,
// printed.
func (c *Cluster) LogTail(d Daemon) string {
	const lines = 30
	text, err := os.ReadFile(c.outFile(d))
	if err != nil || len(text) == 0 {
		text, err = os.ReadFile(c.LogFile(d))
	}
	if err != nil {
		return fmt.Sprintf("(no log of %s: %v)", d, err)
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
