package alone

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	// What somebody else could have made, or may enter, is no place for a socket.
	if err := os.Chmod(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(func(name string) string { return map[string]string{"HOME": home}[name] }); err == nil || !strings.Contains(err.Error(), "is not a folder of yours alone") {
		t.Error(err)
	}
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
