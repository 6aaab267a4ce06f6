package alone

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestFind(t *testing.T) {
	temp, err := os.MkdirTemp("", "place") // whose path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	home, long := filepath.Join(temp, "home"), filepath.Join(temp, strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(temp, "varq-"+strconv.Itoa(os.Getuid()))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env            map[string]string
		folder, socket string // where they are
	}{
		"by XDG":         {map[string]string{"HOME": "/", "XDG_CACHE_HOME": home, "XDG_RUNTIME_DIR": temp}, home, temp},
		"by HOME":        {map[string]string{"HOME": home}, filepath.Join(home, ".cache"), own},
		"gone":           {map[string]string{"HOME": home, "XDG_RUNTIME_DIR": "/nonexistent"}, filepath.Join(home, ".cache"), own},
		"a path so long": {map[string]string{"HOME": home, "XDG_RUNTIME_DIR": long}, filepath.Join(home, ".cache"), own},
	} {
		c.env["SLURM_CONF"] = "/nonexistent"
		got, err := Find(func(name string) string { return c.env[name] })
		want := Place{Folder: filepath.Join(c.folder, "varq", "cluster@"+host), Socket: filepath.Join(c.socket, "varq-cluster.sock")}
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
		if is, err := os.Stat(got.Folder); err != nil || is.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, is, err)
		}
	}
	if _, err := Find(func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "neither XDG_CACHE_HOME nor HOME") {
		t.Error(err)
	}
	// Where nothing can be written, it is said where else it may be.
	sealed := filepath.Join(temp, "sealed")
	folder := filepath.Join(sealed, "varq", "cluster@"+host)
	if err := errors.Join(os.MkdirAll(folder, 0o700), seal(t, folder)); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{"/proc/nowhere", sealed} {
		_, err := Find(func(name string) string { return map[string]string{"XDG_CACHE_HOME": cache}[name] })
		if err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME to a folder in which you may write") {
			t.Error(cache, err)
		}
	}
	// What somebody else could have made, or may enter, is no place for a socket.
	if err := os.Chmod(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(func(name string) string { return map[string]string{"HOME": home}[name] }); err == nil || !strings.Contains(err.Error(), "is not a folder of yours alone") {
		t.Error(err)
	}
}

// seal makes that nobody, not even root, can write in a folder.
func seal(t *testing.T, folder string) error {
	if os.Geteuid() != 0 {
		return os.Chmod(folder, 0o500)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_RDONLY, "")
}

// Variables that would select jobs, or another format, do not reach Slurm's commands.
func TestEnvironment(t *testing.T) {
	t.Setenv("SQUEUE_USERS", "bob")
	t.Setenv("SACCT_FORMAT", "JobID")
	t.Setenv("SLURM_CLUSTERS", "other")
	t.Setenv("SLURM_CONF", "/etc/slurm/slurm.conf")
	all := strings.Join(Environment(), "\n")
	if strings.Contains(all, "SQUEUE_USERS") || strings.Contains(all, "SACCT_FORMAT") || strings.Contains(all, "SLURM_CLUSTERS") || !strings.Contains(all, "SLURM_CONF=") {
		t.Error(all)
	}
}
