package chaos

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/test/cluster"
)

// queueFormat is what the campaign sees of a job in the queue, with queueFields fields.
const (
	queueFormat = "%i|%j|%T|%l|%S|%P|%q|%r"
	queueFields = 8
)

// Sight is a job in Slurm's queue.
type Sight struct {
	At             float64
	State          string
	Limit          int64 // seconds
	Partition, QOS string
	Reason         string // why it waits
}

// watchQueue notes in the evidence how each job in Slurm's queue changes.
func (c *campaign) watchQueue(ctx context.Context) {
	out, err := os.Create(c.evidence("queue.log"))
	if err != nil {
		c.say("%v", err)
		return
	}
	defer out.Close()
	last := map[string]string{}
	for cluster.Sleep(ctx, 2*time.Second) == nil {
		stdout, _, code := c.command(ctx, "root", "squeue", "--noheader", "--format="+queueFormat)
		if code != 0 {
			continue
		}
		at := now()
		for line := range strings.Lines(stdout) {
			line = strings.TrimSpace(line)
			f := strings.Split(line, "|")
			if len(f) != queueFields || last[f[0]] == line {
				continue
			}
			last[f[0]] = line
			// only for readers
			_, _ = out.WriteString(strconv.FormatFloat(at, 'f', 1, 64) + " " + line + "\n")
		}
	}
}

// duration reads a duration as Slurm prints it, [[D-]HH:]MM:SS, in seconds. What is none, as the
// limit of a job without one, is 0.
func duration(text string) (seconds int64) {
	days, rest, found := strings.Cut(text, "-")
	if !found {
		days, rest = "0", text
	}
	d, err := strconv.ParseInt(days, 10, 64)
	if err != nil {
		return 0
	}
	var clock int64
	for _, part := range strings.Split(rest, ":") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return 0
		}
		clock = 60*clock + n
	}
	return 86400*d + clock
}
