package link

import (
	"os"
	"path/filepath"
	"testing"
)

// The host's own cluster has the name that varq.yaml, or else slurm.conf, has for it, though nobody
// names it.
func TestOwnCluster(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	conf := write("slurm.conf", "ClusterName=Lab\n")
	sites := write("varq.yaml", "server: {tls: {listen: 'alpha:6832', certificate: /c, key: /k, ca: /a}}\nsites: [{name: alpha, endpoint: 'tls://alpha:6832'}]\n")
	for want, env := range map[string]map[string]string{
		"alpha": {"VARQ_CONFIG": sites, "SLURM_CONF": conf},
		"lab":   {"VARQ_CONFIG": write("empty.yaml", ""), "SLURM_CONF": conf},
		"local": {"VARQ_CONFIG": write("none.yaml", ""), "SLURM_CONF": filepath.Join(dir, "absent")},
	} {
		l := &Link{Getenv: func(name string) string { return env[name] }}
		found, err := l.Sites("")
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || found[0].Name() != want || found[0].Named || !found[0].Own {
			t.Errorf("%+v, want %s", found[0], want)
		}
	}
}
