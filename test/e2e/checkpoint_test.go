package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// counter is a job that runs contrib/checkpoint/count.
type counter struct {
	id                 int64
	node, file, output string
}

// reached returns how many steps of work are done.
func (c *counter) reached() int {
	text, _ := os.ReadFile(c.file + ".reached")
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// read returns what the job has printed.
func (c *counter) read() string {
	text, _ := os.ReadFile(c.output)
	return string(text)
}

// number returns the number that matches the group of a pattern in the job's output, of the last
// match.
func (c *counter) number(t *testing.T, pattern string) int {
	t.Helper()
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(c.read(), -1)
	if found == nil {
		t.Fatalf("job %d prints no %s:\n%s", c.id, pattern, c.read())
	}
	n, err := strconv.Atoi(found[len(found)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// count submits a job of some steps that runs contrib/checkpoint/count, behind a prefix. every is
// how often it checkpoints by itself. The job has a node of its own.
func count(t *testing.T, s *site.Site, name, requeue, prefix string, steps, every int, options ...string) *counter {
	t.Helper()
	program, err := os.ReadFile("../../contrib/checkpoint/count")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.JobDir(), "count")
	if err := errors.Join(os.WriteFile(path+"-"+name, program, 0o755), os.Chmod(path+"-"+name, 0o755)); err != nil {
		t.Fatal(err)
	}
	c := &counter{file: filepath.Join(s.JobDir(), name+".checkpoint"), output: filepath.Join(s.JobDir(), name+".out")}
	command := fmt.Sprintf("echo process $$; exec %s %s-%s %d %s %d", prefix, path, name, steps, c.file, every)
	c.id, _, err = s.Submit(t.Context(), "alice", append([]string{
		"--exclusive", "-N1", "-t10", requeue, "--open-mode=append", "--output=" + c.output, "--wrap=" + command}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WaitState(t.Context(), c.id, "RUNNING"); err != nil {
		t.Fatal(err)
	}
	job, err := s.Job(t.Context(), c.id)
	if err != nil {
		t.Fatal(err)
	}
	c.node = job["NodeList"]
	return c
}

// requeueOption returns the option of a job that is to be started again as soon as possible after
// its node has failed.
func requeueOption(t *testing.T, s *site.Site) string {
	t.Helper()
	_, version, _ := strings.Cut(mustRun(t, s, "alice", "sbatch", "--version").Stdout, " ")
	if version < "25.11" {
		t.Logf("Slurm %s has no --requeue=expedite", strings.TrimSpace(version))
		return "--requeue"
	}
	return "--requeue=expedite"
}

// goesOn waits until the job has been requeued and goes on. Slurm would let it wait for two
// minutes, but for one that goes first, which may run again before anybody has seen it wait.
func (c *counter) goesOn(t *testing.T, s *site.Site) {
	t.Helper()
	waits := false
	eventually(t, fmt.Sprintf("job %d is requeued", c.id), func() bool {
		job, err := s.Job(t.Context(), c.id)
		waits = err == nil && job["JobState"] == "PENDING"
		return err == nil && job["Restarts"] == "1" && (waits || job["JobState"] == "RUNNING")
	})
	if waits { // or it has started meanwhile, and Slurm refuses this
		if _, err := s.Run(t.Context(), "root", "scontrol", "update", fmt.Sprint("jobid=", c.id), "starttime=now"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, fmt.Sprintf("job %d goes on", c.id), func() bool { return strings.Contains(c.read(), "goes on from step") })
}

// crash ends all of a job's processes and the slurmd of its node, as a crash of the node does.
func (c *counter) crash(t *testing.T, s *site.Site) {
	t.Helper()
	if err := s.KillDaemon(cluster.Slurmd(c.node)); err != nil {
		t.Fatal(err)
	}
	work := c.number(t, `process (\d+)`)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", work))
	if err != nil {
		t.Fatal(err)
	}
	step, err := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
	if err != nil || step < 2 {
		t.Fatalf("process %d is not of a step: %s", work, stat)
	}
	for _, pid := range []int{step, work} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCheckpoint(t *testing.T) {
	thorough.Only(t)
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{SlurmConf: "KillWait=2\nSlurmctldParameters=enable_expedited_requeue"})
	t.Run("advice", func(t *testing.T) { advice(t, s) })
	t.Run("nodes fail", func(t *testing.T) {
		t.Parallel()
		nodesFail(t, s)
	})
	t.Run("work requeues itself", func(t *testing.T) {
		t.Parallel()
		requeuesItself(t, s)
	})
	t.Run("tasks of an array", func(t *testing.T) {
		t.Parallel()
		arrayTasks(t, s)
	})
	t.Run("suspended", func(t *testing.T) {
		t.Parallel()
		isSuspended(t, s)
	})
}

// isSuspended: a job that was suspended is prompted before Slurm stops it, which is then later than
// its start and its limit say.
func isSuspended(t *testing.T, s *site.Site) {
	const limit = 2 * 60
	prompted := filepath.Join(s.JobDir(), "suspended")
	work := fmt.Sprintf(`exec %s --checkpoint-signal=B:USR1,20 -- sh -c 'trap "touch %s; exit" USR1; while :; do sleep 1; done'`, s.Wrapper(), prompted)
	id, _, err := s.Submit(t.Context(), "alice", "-t2", "--wrap="+work)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	eventually(t, "the job is suspended", func() bool {
		r, err := s.Run(t.Context(), "root", "scontrol", "suspend", fmt.Sprint(id))
		return err == nil && r.Code == 0
	})
	eventually(t, "it would have been stopped", func() bool { return time.Since(began) > (limit+5)*time.Second })
	if _, err := os.Stat(prompted); err == nil {
		t.Error("a job that does not run is prompted")
	}
	mustRun(t, s, "root", "scontrol", "resume", fmt.Sprint(id))
	eventually(t, "it is prompted", func() bool {
		_, err := os.Stat(prompted)
		return err == nil
	})
}

// arrayTasks: each task of an array is prompted before its own end, also the one whose number is
// that of the array.
func arrayTasks(t *testing.T, s *site.Site) {
	prompted := filepath.Join(s.JobDir(), "array")
	work := fmt.Sprintf(`exec %s --checkpoint-signal=B:USR1,110 -- sh -c 'trap "touch %s.$SLURM_ARRAY_TASK_ID; exit" USR1; while :; do sleep 1; done'`, s.Wrapper(), prompted)
	if _, _, err := s.Submit(t.Context(), "alice", "--array=1-2", "-t2", "--wrap="+work); err != nil {
		t.Fatal(err)
	}
	for _, task := range []string{".1", ".2"} {
		eventually(t, "task "+task+" is prompted", func() bool {
			_, err := os.Stat(prompted + task)
			return err == nil
		})
	}
}

// advice: a job is advised by what varqd knows of its nodes, and while varqd is away by what it
// knew.
func advice(t *testing.T, s *site.Site) {
	ask := filepath.Join(filepath.Dir(s.Wrapper()), "varq") + " advise --cost=1s --interval=1m --since-last=9 --json"
	eventually(t, "varqd knows the nodes", func() bool {
		r, err := s.Run(t.Context(), "alice", "varq", "nodes")
		return err == nil && r.Code == 0
	})
	r := mustRun(t, s, "alice", "srun", "-n1", "bash", "-c",
		fmt.Sprintf("export TMPDIR=$(mktemp -d); %s; %s --endpoint=unix:///nowhere; rm -r $TMPDIR", ask, ask))
	type said struct {
		Source string  `json:"source"`
		Age    int64   `json:"age"`
		Day    float64 `json:"day"`
	}
	var first, second said
	dec := json.NewDecoder(strings.NewReader(r.Stdout))
	if err := errors.Join(dec.Decode(&first), dec.Decode(&second)); err != nil {
		t.Fatalf("%v in %s%s", err, r.Stdout, r.Stderr)
	}
	if !strings.HasPrefix(first.Source, "varqd's forecast for node") || first.Day <= 0 || second.Day != first.Day || second.Age < first.Age {
		t.Errorf("%+v, then %+v; %s", first, second, r.Stderr)
	}
}

// nodesFail: jobs whose nodes fail lose the less, the better they know when to checkpoint. The last
// node is being taken out of service before it fails: varq knows, and prompts.
func nodesFail(t *testing.T, s *site.Site) {
	// Daly's interval for checkpoints of a second if a node fails every minute
	const steps, daly = 60, 11
	cache := filepath.Join(s.JobDir(), "cache")
	if err := errors.Join(os.Mkdir(cache, 0o777), os.Chmod(cache, 0o777)); err != nil {
		t.Fatal(err)
	}
	requeue := requeueOption(t, s)
	none := count(t, s, "none", requeue, "", steps, 0)
	periodic := count(t, s, "daly", requeue, "", steps, daly)
	prompted := count(t, s, "varq", requeue, s.Wrapper()+" --checkpoint-signal=B:USR1 --checkpoint-cost=1s --checkpoint-interval=3s --", steps, 0, "--export=ALL,TMPDIR="+cache)
	eventually(t, "the work goes on after a first checkpoint of Daly's", func() bool {
		return periodic.reached() >= daly+3 && prompted.reached() > 0
	})
	mustRun(t, s, "root", "scontrol", "update", "nodename="+prompted.node, "state=drain", "reason=ECC errors")
	eventually(t, "varqd sees the drain", func() bool {
		return strings.Contains(mustRun(t, s, "alice", "varq", "nodes", "-N", prompted.node).Stdout, "draining")
	})
	files, err := filepath.Glob(filepath.Join(cache, "varq-*", "risk-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files { // it would be asked again in ten minutes
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the work is prompted", func() bool { return strings.Contains(prompted.read(), "checkpoint at step") })
	if text := prompted.read(); !strings.Contains(text, "varq: checkpoint: one of the nodes is being taken out of service") {
		t.Errorf("it is not said why:\n%s", text)
	}
	var nodes []string
	all := []*counter{none, periodic, prompted}
	for _, c := range all {
		c.crash(t, s)
		nodes = append(nodes, c.node)
	}
	mustRun(t, s, "root", "scontrol", "update", "nodename="+strings.Join(nodes, ","), "state=down", "reason=Not responding")
	var lost []int
	for _, c := range all {
		c.goesOn(t, s)
		lost = append(lost, c.number(t, `(\d+) steps of work are lost`))
		job, err := s.Job(t.Context(), c.id)
		if err != nil || slices.Contains(nodes, job["NodeList"]) {
			t.Errorf("job %d goes on on %s, %v", c.id, job["NodeList"], err)
		}
	}
	t.Logf("steps of work lost: %d without checkpoints, %d with Daly's, %d with varq's prompts", lost[0], lost[1], lost[2])
	for i, c := range all[1:] {
		if from := c.number(t, `goes on from step (\d+)`); from == 0 || lost[i+1] >= lost[0] {
			t.Errorf("job %d goes on from step %d, and has lost %d steps, without checkpoints %d", c.id, from, lost[i+1], lost[0])
		}
	}
	if done := none.number(t, `goes on from step (\d+)`); done != 0 {
		t.Errorf("it goes on from step %d without checkpoints", done)
	}
	for _, c := range all {
		mustRun(t, s, "alice", "scancel", fmt.Sprint(c.id))
	}
}

// submitit is work that follows the protocol of submitit: on SIGUSR2 the first task checkpoints,
// requeues the job and exits, and the others go on until Slurm ends them. SIGTERM and SIGCONT
// change nothing.
const submitit = `#!/bin/bash
checkpoint() {
	if [ "$SLURM_PROCID" != 0 ]; then
		echo "task $SLURM_PROCID leaves it to the first"
		return
	fi
	echo $step >"$1"
	echo "requeues itself at step $step"
	scontrol requeue "$SLURM_JOB_ID"
	exit 255
}
trap 'checkpoint '"$1" USR2
trap : TERM CONT
step=0
read -r step 2>/dev/null <"$1" && [ "$SLURM_PROCID" = 0 ] && echo "goes on from step $step"
while :; do
	sleep 1
	((step += 1))
done
`

// requeuesItself: work in the manner of submitit and Lightning, which requeues its job when it is
// prompted, is prompted once: before its job is stopped at the limit of two minutes.
func requeuesItself(t *testing.T, s *site.Site) {
	c := &counter{file: filepath.Join(s.JobDir(), "submitit.checkpoint"), output: filepath.Join(s.JobDir(), "submitit.out")}
	work := filepath.Join(s.JobDir(), "submitit")
	if err := errors.Join(os.WriteFile(work, []byte(submitit), 0o755), os.Chmod(work, 0o755)); err != nil {
		t.Fatal(err)
	}
	var err error
	c.id, _, err = s.Submit(t.Context(), "alice", "-N2", "-n2", "-t2", "--requeue", "--open-mode=append", "--output="+c.output,
		fmt.Sprintf("--wrap=exec %s --checkpoint-signal=USR2,110 -- srun %s %s", s.Wrapper(), work, c.file))
	if err != nil {
		t.Fatal(err)
	}
	c.goesOn(t, s)
	if from, at := c.number(t, `goes on from step (\d+)`), c.number(t, `requeues itself at step (\d+)`); from != at || at == 0 {
		t.Errorf("it goes on from step %d, and was at step %d", from, at)
	}
	for said, times := range map[string]int{"varq: checkpoint: the next one would not be complete": 1, "requeues itself": 1, "task 1 leaves it to the first": 1} {
		if n := strings.Count(c.read(), said); n != times {
			t.Errorf("it says %d times %q:\n%s", n, said, c.read())
		}
	}
	mustRun(t, s, "alice", "scancel", fmt.Sprint(c.id))
}
