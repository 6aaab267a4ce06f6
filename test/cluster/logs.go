package cluster

import (
	"fmt"
	"os"
	"strings"
)

// LogFile returns the path of a daemon's log. The log of a slurmd also contains the messages
// of its job steps. Munged and MariaDB have no log.
func (f folder) LogFile(d Daemon) string { return f.Path("log", string(d)+".log") }

// outFile returns the path of the file that receives a daemon's standard output and error.
func (f folder) outFile(d Daemon) string { return f.Path("log", string(d)+".out") }

// LogTail returns the last 30 lines of a daemon's log. It returns the last lines of the
// daemon's standard output and error instead if there is no log, or if the daemon printed
// something after its last log message. The latter happens if the daemon cannot open its log.
func (f folder) LogTail(d Daemon) string {
	const lines = 30
	name := f.LogFile(d)
	printed, err := os.Stat(f.outFile(d))
	if logged, noLog := os.Stat(name); err == nil && (noLog != nil || printed.ModTime().After(logged.ModTime())) {
		name = f.outFile(d)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Sprintf("(no log of %s: %v)", d, err)
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
