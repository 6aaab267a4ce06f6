package cluster

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/hostlist"
)

// powerDir is the folder in which Slurm's ResumeProgram and SuspendProgram leave what slurmctld
// asks for: files named after a word and a process, with the names of nodes.
const powerDir = "power"

// The words of ResumeProgram and SuspendProgram.
const (
	powerUp   = "up"
	powerDown = "down"
)

// powerProgram returns the text of ResumeProgram or SuspendProgram. The file gets its name once it
// is whole.
func (f folder) powerProgram(word string) string {
	file := f.Path(powerDir, word)
	return "#!/bin/sh\necho \"$1\" > " + file + ".part$$ && mv " + file + ".part$$ " + file + ".$$\n"
}

// runCloud starts and stops the slurmds of cloud nodes as slurmctld asks for it, until Stop. A node
// that is powered up takes boot until its slurmd starts.
func (c *Cluster) runCloud(boot time.Duration) {
	ctx, stop := context.WithCancel(context.Background())
	c.stopCloud = stop
	go func() {
		for Sleep(ctx, pollInterval) == nil {
			for word, nodes := range c.powerRequests() {
				for _, node := range nodes {
					go c.power(ctx, word, node, boot)
				}
			}
		}
	}()
}

// powerRequests returns the nodes that slurmctld has asked to power up or down since the last call.
func (f folder) powerRequests() map[string][]string {
	asked := map[string][]string{}
	files, err := os.ReadDir(f.Path(powerDir))
	if err != nil {
		return nil // the cluster is being removed
	}
	for _, file := range files {
		word, _, _ := strings.Cut(file.Name(), ".")
		path := f.Path(powerDir, file.Name())
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(file.Name(), ".part") || os.Remove(path) != nil {
			continue
		}
		if nodes, err := hostlist.Expand(strings.TrimSpace(string(text))); err == nil {
			asked[word] = append(asked[word], nodes...)
		}
	}
	return asked
}

// power powers a node up or down. What fails shows in Slurm, which then waits for the node until
// ResumeTimeout.
func (c *Cluster) power(ctx context.Context, word, node string, boot time.Duration) {
	if word == powerDown {
		_ = c.StopDaemon(Slurmd(node))
		return
	}
	if Sleep(ctx, boot) == nil {
		_ = c.StartDaemon(ctx, Slurmd(node))
	}
}
