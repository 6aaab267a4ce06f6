package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// showProcess writes what /proc tells of a process; environ is empty if it must not be read.
func showProcess(t *testing.T, proc, pid, cmdline, environ, status string) {
	t.Helper()
	dir := filepath.Join(proc, pid)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"comm": "slurmrestd\n", "cmdline": cmdline, "environ": environ, "status": status} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRestMemory(t *testing.T) {
	const (
		daemon = "slurmrestd\x00-a\x00rest_auth/jwt\x000.0.0.0:6820\x00"
		bare   = "slurmrestd\x00-a\x00rest_auth/jwt\x00"
		small  = "Name:\tslurmrestd\nVmRSS:\t   30720 kB\nThreads:\t21\n"
		large  = "Name:\tslurmrestd\nVmRSS:\t 5242880 kB\nThreads:\t21\n"
		local  = "http://localhost:6820"
	)
	for name, test := range map[string]struct {
		url, cmdline, environ, status string
		verdict                       Verdict // "" for no finding
		found, remedy                 string
	}{
		"its environment lacks it":  {local, daemon, "PATH=/bin\x00SLURM_JWT=daemon\x00", small, Warning, "process 12 has 30 MiB in 21 threads, each of which keeps", "Environment=MALLOC_ARENA_MAX=1"},
		"its environment has it":    {local, daemon, "MALLOC_ARENA_MAX=1\x00", large, OK, "process 12 has 5120 MiB in 21 threads, and one arena for all", ""},
		"by glibc's tunables":       {local, daemon, "GLIBC_TUNABLES=glibc.malloc.arena_max=1\x00", small, OK, "one arena", ""},
		"unreadable, much memory":   {local, daemon, "", large, Warning, "5120 MiB in 21 threads, each of which may keep", "unless that is done: put Environment=MALLOC_ARENA_MAX=1"},
		"unreadable, little memory": {local, daemon, "", small, OK, "process 12 has 30 MiB in 21 threads", ""},
		"told by its environment":   {local, bare, "SLURMRESTD_LISTEN=unix:/run/s,:6820\x00", small, Warning, "", "MALLOC_ARENA_MAX"},
		"a socket":                  {"unix:///run/slurmrestd.sock", "slurmrestd\x00unix:/run/slurmrestd.sock\x00", "A=b\x00", small, Warning, "", "MALLOC_ARENA_MAX"},
		"by its number":             {"http://127.0.0.1:6820", daemon, "A=b\x00", small, Warning, "", "MALLOC_ARENA_MAX"},
		"another port":              {"http://localhost:6821", daemon, "A=b\x00", large, "", "", ""},
		"another host":              {"http://ctl.example.org:6820", daemon, "A=b\x00", large, "", "", ""},
		"it has ended":              {local, daemon, "", "", OK, "process 12 has 0 MiB in 0 threads", ""},
		"no URL":                    {"", daemon, "A=b\x00", large, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			proc := t.TempDir()
			showProcess(t, proc, "7", "slurmrestd\x00:9999\x00", "", large)
			showProcess(t, proc, "12", test.cmdline, test.environ, test.status)
			findings := RestMemory(proc, test.url)
			if test.verdict == "" {
				if len(findings) > 0 {
					t.Errorf("%+v", findings)
				}
				return
			}
			if len(findings) != 1 || findings[0].Verdict != test.verdict || !strings.Contains(findings[0].Found, test.found) || !strings.Contains(findings[0].Remedy, test.remedy) {
				t.Errorf("%+v, want %+v", findings, test)
			}
		})
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("VmRSS:\t   30720 kB\nThreads:\t21\n"))
	f.Add([]byte("VmRSS:\t-1 kB\nThreads:\t-7\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if resident, threads := parseStatus(text); resident < 0 || threads < 0 {
			t.Errorf("%d, %d", resident, threads)
		}
	})
}
