package cluster

import (
	"fmt"
	"os"
)

// layout creates the folders in the cluster's folder. Each belongs to the user that writes
// there. Every user may write to jobs.
func (c *Cluster) layout() error {
	dirs := []struct {
		path, owner string
		mode        os.FileMode
	}{
		{"etc", "root", 0o755},
		{"run", "root", 0o755},
		{"run/munge", "munge", 0o755},
		{"run/mysql", "mysql", 0o755},
		{"run/slurm", "slurm", 0o755},
		{"log", "slurm", 0o755},
		{"state", "slurm", 0o700},
		{powerDir, "slurm", 0o755},
		{"mysql", "mysql", 0o700},
		{"spool", "root", 0o755},
		{"jobs", "root", 0o777 | os.ModeSticky},
	}
	for _, d := range dirs {
		path := c.Path(d.path)
		if err := os.Mkdir(path, d.mode); err != nil {
			return err
		}
		if err := os.Chmod(path, d.mode); err != nil { // regardless of the umask
			return err
		}
		if err := c.chown(path, d.owner); err != nil {
			return err
		}
	}
	for _, node := range c.NodeNames() {
		if err := os.Mkdir(c.Path("spool", node), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// NodeNames returns the names of the cluster's nodes, in order.
func (s state) NodeNames() []string {
	names := make([]string, s.Nodes)
	for i := range names {
		names[i] = fmt.Sprintf("node%d", i+1)
	}
	return names
}
