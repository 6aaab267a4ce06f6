package statefile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// networks are the file systems, by the number that the kernel gives to each, on which SQLite's
// files are not safe, and on which a server gives a lock free while the process that has it lives
// and is only out of reach.
var networks = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB",
	unix.AFS_SUPER_MAGIC: "AFS", unix.AFS_FS_MAGIC: "AFS",
}

// statfs is the kernel's.
var statfs = unix.Statfs

// MayTakeOver returns an error if a varqd cannot take the file path over from another: there is
// none, which is so where its file system is not mounted, or it is on a network file system.
func MayTakeOver(path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("ledger: %w; a varqd that stands by begins none: mount its file system, or start varqd once without --standby", err)
	}
	var on unix.Statfs_t
	if err := statfs(path, &on); err != nil {
		return fmt.Errorf("ledger: %s: %w", path, err)
	}
	if name, is := networks[uint32(on.Type)]; is {
		return fmt.Errorf("ledger: %s is on %s, where neither the file nor its lock is safe; see varqd(8), TWO VARQD, for where two varqd can have it", path, name)
	}
	return nil
}
