package cluster

import "path/filepath"

// folder is the folder of a cluster, with all its files.
type folder struct{ Dir string }

// Path returns the absolute path of a file in the cluster's folder. The path is the same
// inside and outside a chroot.
func (f folder) Path(elem ...string) string {
	return filepath.Join(append([]string{f.Dir}, elem...)...)
}

// Conf returns the path of the cluster's slurm.conf.
func (f folder) Conf() string { return f.Path("etc", "slurm.conf") }

// JobDir returns the folder that commands run in. Every user may write to it.
func (f folder) JobDir() string { return f.Path("jobs") }

// MungeSocket returns the path of the socket of the cluster's munged.
func (f folder) MungeSocket() string { return f.Path("run", "munge", "socket") }
