package cluster

import (
	"fmt"
	"os"
	"strings"
)

// LogFile returns the name of a daemon's own log; a slurmd's has its job steps'
// messages as well. Munged and MariaDB have none.
func (c *Cluster) LogFile(d Daemon) string { return c.Path("log", string(d)+".log") }

// outFile takes what a daemon prints.
func (c *Cluster) outFile(d Daemon) string { return c.Path("log", string(d)+".out") }

// LogTail returns the last lines that a daemon logged. If it has no log, or
// could not even open it any more, they are the last that it printed.
func (c *Cluster) LogTail(d Daemon) string {
	const lines = 30
	name := c.LogFile(d)
	printed, err := os.Stat(c.outFile(d))
	if logged, noLog := os.Stat(name); err == nil && (noLog != nil || printed.ModTime().After(logged.ModTime())) {
		name = c.outFile(d)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Sprintf("(no log of %s: %v)", d, err)
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
