package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSlurmWorksWithoutVarq runs sbatch as the uninstalled varq leaves it: a
// plugstack.conf that includes nothing, and a cli_filter.lua whose other half is
// gone. Only the controller, which there is none of, stops it.
func TestSlurmWorksWithoutVarq(t *testing.T) {
	for name, filter := range map[string]string{
		"stock": "../plugin/lua/cli_filter.lua",
		"site":  "../contrib/site/cli_filter.lua",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			submitWithout(t, filter)
		})
	}
}

func submitWithout(t *testing.T, filter string) {
	if _, err := exec.LookPath("sbatch"); err != nil {
		t.Skip("sbatch is not installed")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cli_filter.lua", strings.ReplaceAll(read(t, filter), "/usr/share/varq", dir))
	write("plugstack.conf", fmt.Sprintf("include %s/plugstack.conf.d/*\n", dir))
	write("slurm.conf", fmt.Sprintf(`ClusterName=none
SlurmctldHost=localhost
SlurmctldPort=1
MessageTimeout=2
PlugStackConfig=%s/plugstack.conf
CliFilterPlugins=lua
NodeName=n1
PartitionName=p Nodes=n1
`, dir))
	cmd := exec.Command("sbatch", "--account=physics", "--wrap=true")
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("sbatch found a controller:\n%s", out)
	}
	const want = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n"
	if string(out) != want {
		t.Errorf("sbatch says\n%swant\n%s", out, want)
	}
}
