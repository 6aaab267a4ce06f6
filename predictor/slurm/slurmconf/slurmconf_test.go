package slurmconf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t testing.TB, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestClusterName(t *testing.T) {
	long := strings.Repeat("NodeName=a\n", 1000)
	for text, want := range map[string]string{
		"":                               "",
		"SlurmctldHost=ctl\n":            "",
		"ClusterName=Alpha\n":            "alpha",
		"  clustername = alpha # ours\n": "alpha",
		"AuthType=auth/munge CLUSTERNAME=\"b c\"":                 "b c",
		"#ClusterName=beta\n":                                     "",
		"Cluster\\\nName=alpha\n":                                 "alpha",
		"ClusterName=beta\nClusterName=alpha":                     "alpha",
		"MyClusterName=beta\n":                                    "",
		long + "Include names.conf\n" + long:                      "gamma",
		"include  FOLDER/names.conf\n":                            "gamma",
		"Include absent.conf\nInclude %c.conf\nClusterName=alpha": "alpha",
		"Include loop.conf\nClusterName=alpha":                    "alpha",
	} {
		folder := t.TempDir()
		write(t, folder, map[string]string{
			"slurm.conf": strings.ReplaceAll(text, "FOLDER", folder), "names.conf": "ClusterName=gamma\n", "loop.conf": "Include loop.conf\n",
		})
		got, err := ClusterName(filepath.Join(folder, "slurm.conf"))
		if err != nil || got != want {
			t.Errorf("%.60q: %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := ClusterName(filepath.Join(t.TempDir(), "slurm.conf")); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzClusterName(f *testing.F) {
	f.Add("ClusterName=alpha\nInclude slurm.conf\n")
	f.Add("\\\n#\\#\"ClusterName = \"a")
	f.Fuzz(func(t *testing.T, text string) {
		folder := t.TempDir()
		write(t, folder, map[string]string{"slurm.conf": text})
		_, _ = ClusterName(filepath.Join(folder, "slurm.conf"))
	})
}

func TestIsOwn(t *testing.T) {
	for list, want := range map[string]bool{"lab": true, "LAB": true, "lab,lab": true, "": false, "lab,": false, "beta": false, "lab,beta": false, "all": false} {
		if IsOwn(list, "lab") != want {
			t.Errorf("%q: %t", list, !want)
		}
	}
	if IsOwn("", "") || IsOwn("lab", "") {
		t.Error("a list is of a cluster that is not known")
	}
}
