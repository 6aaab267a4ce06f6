package alone

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/slurm/slurmconf"
)

// Place is where the process of a user keeps what it has read, and where it answers.
type Place struct {
	Folder string // of the cluster and this host, private to the user
	Socket string
}

// pastOf and pidOf return the files in a Place's Folder that have the past, and the number of the
// process.
func pastOf(folder string) string { return filepath.Join(folder, "history.db") }
func pidOf(folder string) string  { return filepath.Join(folder, "pid") }

// mostPath is how long the path of a socket may be, in bytes.
const mostPath = 107

// Find returns the place for a user's environment, and makes its folders. The folder is in
// XDG_CACHE_HOME, the socket in XDG_RUNTIME_DIR or, without one, in the folder for temporary files:
// a home may be one of several hosts, or on a file system without sockets.
func Find(getenv func(string) string) (Place, error) {
	cache := getenv("XDG_CACHE_HOME")
	if cache == "" {
		home := getenv("HOME")
		if home == "" {
			return Place{}, errors.New("neither XDG_CACHE_HOME nor HOME says where to keep what is learnt of past jobs: set one of them")
		}
		cache = filepath.Join(home, ".cache")
	}
	host, err := os.Hostname()
	if err != nil {
		return Place{}, err
	}
	name := cmp.Or(slurmconf.OwnCluster(getenv), "cluster")
	p := Place{Folder: filepath.Join(cache, "varq", name+"@"+host)}
	err = os.MkdirAll(p.Folder, 0o700)
	if err == nil && unix.Access(p.Folder, unix.W_OK|unix.X_OK) != nil {
		err = fmt.Errorf("%s: you may not write there", p.Folder)
	}
	if err != nil {
		return Place{}, fmt.Errorf("the folder for what is learnt of past jobs: %w: set XDG_CACHE_HOME to a folder in which you may write", err)
	}
	run, socket := getenv("XDG_RUNTIME_DIR"), "varq-"+name+".sock"
	if is, err := os.Stat(run); err == nil && is.IsDir() && len(filepath.Join(run, socket)) <= mostPath {
		p.Socket = filepath.Join(run, socket)
		return p, nil
	}
	run = filepath.Join(os.TempDir(), "varq-"+strconv.Itoa(os.Getuid()))
	p.Socket = filepath.Join(run, socket)
	return p, ownFolder(run)
}

// ownFolder makes a folder that only this user may enter. It is an error if somebody else has made
// it.
func ownFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	is, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner, known := is.Sys().(*syscall.Stat_t)
	if !is.IsDir() || is.Mode().Perm()&0o077 != 0 || !known || int(owner.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a folder of yours alone: remove it, or set XDG_RUNTIME_DIR", path)
	}
	return nil
}
