package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/test/synthetic"
	"github.com/varq-project/varq/test/thorough"
)

// run runs a command as a user and returns its standard output, without surrounding white
// space. If the command fails, the test fails.
func run(t *testing.T, c *Cluster, user, name string, args ...string) string {
	t.Helper()
	out, err := output(c.Command(t.Context(), user, name, args...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// eventually waits until holds returns true. If that takes longer than Patience, the test
// fails and reports what.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// Nodes without a slurmd are idle as others are, and take allocations.
func TestDeclared(t *testing.T) {
	thorough.Only(t)
	c := ForTest(t, Options{Nodes: 2, Declared: 1000})
	for _, node := range []string{"far1", "far1000"} {
		run(t, c, "alice", "salloc", "--quiet", "--no-shell", "--exclusive", "--nodelist="+node)
	}
	if got := run(t, c, "alice", "squeue", "--noheader", "--sort=i", "--format=%T %N"); got != "RUNNING far1\nRUNNING far1000" {
		t.Errorf("squeue: %q", got)
	}
	run(t, c, "root", "scancel", "--user=alice")
	if err := c.WaitIdle(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCluster(t *testing.T) {
	thorough.Only(t)
	c := ForTest(t, Options{})

	t.Run("a user's batch job completes", func(t *testing.T) {
		id := run(t, c, "alice", "sbatch", "--parsable", "--wait", "--wrap=id -un")
		if text, err := os.ReadFile(filepath.Join(c.JobDir(), "slurm-"+id+".out")); err != nil || string(text) != "alice\n" {
			t.Errorf("the job printed %q, %v", text, err)
		}
		eventually(t, "COMPLETED in accounting", func() bool {
			return run(t, c, "alice", "sacct", "-nXPj", id, "-o", "user,account,state") == "alice|phys|COMPLETED"
		})
	})

	t.Run("steps on several nodes", func(t *testing.T) {
		const each = "echo $SLURMD_NODENAME"
		if got := run(t, c, "bob", "srun", "-N4", "sh", "-c", each); len(strings.Fields(got)) != 4 {
			t.Errorf("srun on 4 nodes printed %q", got)
		}
		if got := run(t, c, "bob", "salloc", "--quiet", "-N2", "srun", "sh", "-c", each); len(strings.Fields(got)) != 2 {
			t.Errorf("srun in salloc on 2 nodes printed %q", got)
		}
		script := "srun --export=ALL --ntasks-per-node=2 sh -c '" + each + "'"
		id := run(t, c, "bob", "sbatch", "--parsable", "--wait", "--export=NONE", "-N2", "--ntasks-per-node=2", "--wrap="+script)
		text, err := os.ReadFile(filepath.Join(c.JobDir(), "slurm-"+id+".out"))
		if err != nil || len(strings.Fields(string(text))) != 4 {
			t.Errorf("4 tasks with --export=NONE printed %q, %v", text, err)
		}
	})

	t.Run("daemons restart", func(t *testing.T) {
		id := run(t, c, "alice", "sbatch", "--parsable", "--begin=now+1hour", "--wrap=true")
		if err := c.Reconfigure(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.Restart(t.Context(), Slurmctld); err != nil {
			t.Fatal(err)
		}
		if err := c.KillDaemon(Slurmrestd); err != nil {
			t.Fatal(err)
		}
		if err := c.StartDaemon(t.Context(), Slurmrestd); err != nil {
			t.Fatal(err)
		}
		if got := run(t, c, "alice", "squeue", "-ho", "%i"); got != id {
			t.Errorf("in the queue after the restarts: %q, want %q", got, id)
		}
		run(t, c, "alice", "scancel", id)
	})

	t.Run("processes of a job", func(t *testing.T) {
		jobs := []string{run(t, c, "alice", "sbatch", "--parsable", "--wrap=sleep 1234"), run(t, c, "alice", "sbatch", "--parsable", "--wrap=sleep 4321")}
		for i, seconds := range []string{"1234", "4321"} {
			eventually(t, "the job's work runs, and no other job's", func() bool {
				found, err := c.JobProcesses(jobs[i])
				if err != nil {
					t.Fatal(err)
				}
				var sleeps []string
				for _, words := range found {
					if words[0] == "sleep" {
						sleeps = append(sleeps, words[1])
					}
				}
				return len(sleeps) == 1 && sleeps[0] == seconds
			})
			run(t, c, "alice", "scancel", jobs[i])
			eventually(t, "nothing is left of the job", func() bool {
				found, err := c.JobProcesses(jobs[i])
				return err == nil && len(found) == 0
			})
		}
	})

	t.Run("history is in accounting", func(t *testing.T) {
		end := time.Now().Unix()
		n, err := c.LoadHistory(t.Context(), synthetic.History(synthetic.Config{
			Seed: 1, Nodes: c.Nodes, CPUs: c.CPUs, ShortNodes: c.ShortNodes(), Jobs: 20_000, Days: 60, End: end, Utilisation: .75,
		}))
		if err != nil || n < 20_000 {
			t.Fatalf("loaded %d jobs: %v", n, err)
		}
		ids := run(t, c, "root", "sacct", "-naXPS", "now-61days", "-o", "jobid", "--name=past")
		if got := len(strings.Fields(ids)); got != n {
			t.Errorf("sacct lists %d jobs of %d", got, n)
		}
		token, err := c.Token(t.Context(), "varq", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got := restJob(t, c, "varq", token, firstHistoryID); got != firstHistoryID {
			t.Errorf("slurmrestd knows job %d as %d", firstHistoryID, got)
		}
	})

	t.Run("live load", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Load(ctx, Load{Utilisation: 1, Longest: 10 * time.Second}) }()
		eventually(t, "running jobs", func() bool { return run(t, c, "oper", "squeue", "-ht", "R") != "" })
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		eventually(t, "no jobs left", func() bool { return run(t, c, "oper", "squeue", "-h") == "" })
	})
}

// restJob requests a past job from slurmrestd and returns the id in the response.
func restJob(t *testing.T, c *Cluster, user, token string, id int) int {
	t.Helper()
	api := "v0.0.38"
	if c.Version != Slurm2205 {
		api = "v0.0.42"
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/slurmdb/%s/job/%d", c.RestURL(), api, id), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-SLURM-USER-NAME", user)
	request.Header.Set("X-SLURM-USER-TOKEN", token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Jobs []struct {
			ID int `json:"job_id"`
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.Jobs) != 1 {
		t.Fatalf("%s: %s: %+v, %v", request.URL, response.Status, answer, err)
	}
	return answer.Jobs[0].ID
}

// Clusters that are started at the same time do not interfere with each other.
func TestSideBySide(t *testing.T) {
	thorough.Only(t)
	for _, name := range []string{"one", "other"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := ForTest(t, Options{Nodes: 2})
			if got := run(t, c, "alice", "sbatch", "--parsable", "--wait", "--wrap=true"); got != "1" {
				t.Errorf("the first job of %s is %s", c.Dir, got)
			}
		})
	}
}

// A starter that is killed leaves a folder and possibly job steps. Stop, called by another
// process, removes them.
func TestStopAfterCrash(t *testing.T) {
	thorough.Only(t)
	if dir := os.Getenv("VARQ_TEST_CRASH"); dir != "" {
		crash(t, dir)
	}
	NeedSlurm(t)
	parent, err := os.MkdirTemp("", "varq-crash-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(parent)
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "lab")
	starter := exec.Command(os.Args[0], "-test.run=^TestStopAfterCrash$")
	starter.Env = append(os.Environ(), "VARQ_TEST_CRASH="+dir)
	out, err := starter.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan() && s.Text() != "job runs"; {
		t.Log(s.Text())
	}
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait()
	c, err := Open(dir)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the starter got no Slurm to start")
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the daemons die with their starter", func() bool {
		_, runs := c.running(Slurmctld)
		return !runs
	})
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if left, err := c.processes(); err != nil || len(left) > 0 {
		t.Errorf("processes left: %v, %v", left, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	if mounts, err := mountsBelow(dir); err != nil || len(mounts) > 0 {
		t.Errorf("mounts left: %v, %v", mounts, err)
	}
}

// crash starts a cluster with a running job and waits to be killed.
func crash(t *testing.T, dir string) {
	c := ForTest(t, Options{Dir: dir, Nodes: 1})
	run(t, c, "alice", "sbatch", "--wrap=trap '' TERM; sleep 600 & wait")
	eventually(t, "the job runs", func() bool { return run(t, c, "alice", "squeue", "-ht", "R") != "" })
	fmt.Println("job runs")
	select {}
}

// If a daemon rejects the configuration, the error of Start contains the daemon's output.
func TestStartFailure(t *testing.T) {
	NeedSlurm(t)
	_, err := Start(t.Context(), Options{Nodes: 1, SlurmConf: "SelectType=select/no_such"})
	if errors.Is(err, ErrNoSlurm) {
		t.Skip(err)
	}
	if err == nil || !strings.Contains(err.Error(), "no_such") {
		t.Errorf("error %v", err)
	}
}
