package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/slurm/sacct"
	"github.com/varq-project/varq/predictor/slurm/squeue"
)

// TestMain is varq where this program is called so.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "varq" {
		main()
	}
	os.Exit(m.Run())
}

// bare is a cluster without varqd, of which programs tell that look like Slurm's commands.
type bare struct {
	t                 *testing.T
	bin, home, socket string
}

// newBare returns a cluster where 500 jobs have run, and where a job of the user waits.
func newBare(t *testing.T) *bare {
	// The path of a test's own folder may be too long for the name of a socket.
	folder, err := os.MkdirTemp("", "varq")
	if err != nil {
		t.Fatal(err)
	}
	b := &bare{t: t, bin: filepath.Join(folder, "bin"), home: filepath.Join(folder, "home"), socket: filepath.Join(folder, "run")}
	for _, dir := range []string{b.bin, b.home, b.socket} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		b.stop()
		_ = os.RemoveAll(folder)
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(b.bin, "varq")); err != nil {
		t.Fatal(err)
	}
	who := os.Getenv("USER")
	if out, err := exec.Command("id", "-un").Output(); err == nil {
		who = strings.TrimSpace(string(out))
	}
	now := time.Now().Unix()
	var past, queue strings.Builder
	past.WriteString(strings.Join(sacct.Fields, "|") + "|Constraints|Reason\n")
	for i := range int64(500) {
		submit := now - 600*(501-i)
		user := []string{"bob", who}[i%2]
		fmt.Fprintf(&past, "%d|%s|phys|main|normal|COMPLETED|%d|%d|%d|%d|60|cpu=8,mem=1000M,node=1|cpu=8,mem=1000M,node=1||None\n", 1000+i, user, submit, submit, submit+300+i%200, submit+900+i%200)
	}
	for i := range int64(3) {
		is := map[string]string{
			"JobID": fmt.Sprint(1500 + i), "ArrayTaskID": "N/A", "UserName": who, "Account": "phys", "Partition": "main", "QOS": "normal", "State": "RUNNING", "PriorityLong": "50",
			"SubmitTime": fmt.Sprint(now - 900), "EligibleTime": fmt.Sprint(now - 900), "StartTime": fmt.Sprint(now - 600), "TimeLimit": "1:00:00", "NumNodes": "1", "NumCPUs": "8",
			"tres-alloc": "cpu=8,mem=1000M,node=1", "NodeList": fmt.Sprintf("node%d", i+1), "OverSubscribe": "OK", "BatchFlag": "1", "Name": "train",
		}
		if i == 2 {
			is["State"], is["Reason"], is["StartTime"], is["NodeList"] = "PENDING", "Resources", "N/A", ""
		}
		queue.WriteString(squeue.Line(is))
	}
	b.program("sacct", past.String())
	b.program("squeue", queue.String())
	b.program("scontrol", "")
	for what, text := range map[string]string{
		"config":    "ClusterName = lab\nSelectType = select/cons_tres\n",
		"partition": "PartitionName=main Default=YES DefaultTime=01:00:00 MaxTime=1-00:00:00 MaxNodes=UNLIMITED Nodes=node[1-2] OverSubscribe=NO State=UP TotalCPUs=16\n",
		"node":      "NodeName=node1 CPUTot=8 RealMemory=8000 State=ALLOCATED CfgTRES=cpu=8\nNodeName=node2 CPUTot=8 RealMemory=8000 State=ALLOCATED CfgTRES=cpu=8\n",
	} {
		b.write(filepath.Join(b.bin, "scontrol."+what), text, 0o600)
	}
	return b
}

// program makes a program that notes that it was asked, and prints a text, or a file that is called
// as it and its last argument.
func (b *bare) program(name, text string) {
	file := filepath.Join(b.bin, name)
	b.write(file+".text", text, 0o600)
	b.write(file, fmt.Sprintf("#!/bin/sh\necho \"%s $*\" >> %s/asked\nfor last; do :; done\n[ -e \"%s.$last\" ] && exec cat \"%[3]s.$last\"\nexec cat %[3]s.text\n", name, b.home, file), 0o700)
}

func (b *bare) write(path, text string, mode os.FileMode) {
	b.t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
}

// varq runs varq, and returns what it prints.
func (b *bare) varq(args ...string) (stdout, stderr string, err error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./varq", args...)
	cmd.Dir = b.bin
	cmd.Env = []string{
		"PATH=" + b.bin + ":" + os.Getenv("PATH"), "HOME=" + b.home, "XDG_RUNTIME_DIR=" + b.socket, "VARQ_CONFIG=" + filepath.Join(b.home, "none.yaml"),
		"SLURM_CONF=" + filepath.Join(b.home, "none.conf"), "TZ=UTC", "SQUEUE_USERS=nobody",
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// asked returns how often a program was asked.
func (b *bare) asked(name string) int {
	text, _ := os.ReadFile(filepath.Join(b.home, "asked"))
	return strings.Count("\n"+string(text), "\n"+name+" ")
}

// stop ends the user's forecaster, if there is one, and waits until it has.
func (b *bare) stop() {
	c, err := net.Dial("unix", filepath.Join(b.socket, "varq-cluster.sock"))
	if err != nil {
		return
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		b.t.Fatal(err)
	}
	var who *unix.Ucred
	if failed := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); failed != nil || err != nil {
		b.t.Fatal(failed, err)
	}
	for syscall.Kill(int(who.Pid), syscall.SIGTERM) == nil {
		time.Sleep(10 * time.Millisecond)
	}
}

// A user of a cluster without varqd has nothing but the binary: it forecasts for her, says what
// that is worth, and asks Slurm little. What it has read it still knows once its process has ended.
func TestAlone(t *testing.T) {
	b, began := newBare(t), time.Now()
	most := func() int { return 1 + int(time.Since(began)/time.Minute) } // it may ask once a minute
	out, told, err := b.varq("when")
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, told)
	}
	for _, want := range []string{"1502 main", "train", "Resources"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, want := range []string{"varq: your own forecaster ", "a forecast of your own, from 5", "nothing is promised"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	if out, told, err = b.varq("when", "1502"); err != nil || !strings.Contains(out, "Start        as likely as not by ") || strings.Contains(told, "accounting") {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	if out, told, err = b.varq("when", "--json"); err != nil || told != "" || !strings.Contains(out, `"job": 1502`) {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	if _, told, err = b.varq("when", "99"); err == nil || !strings.Contains(told, "varq: job 99 does not wait: it has started, has not been seen yet, or is not yours to see") {
		t.Errorf("%v\n%s", err, told)
	}
	if out, told, err = b.varq("predict", "-N1", "-t", "30"); err != nil || !strings.Contains(told, "nothing is promised") || !strings.Contains(out, "Quantile") || strings.Contains(out, "Promised") || strings.Contains(out, "StartBy") {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	if out, told, err = b.varq("quote", "--advisory", "-N1", "-t", "30", "--begin-by=now+10hours"); err != nil || !strings.Contains(told, "nothing is promised") ||
		!strings.Contains(out, "Likely: running by") || !strings.Contains(out, "sbatch --nodes=1 --time=30 job.sh") || strings.Contains(out, "--begin-by") {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	if out, _, err = b.varq("quote", "--advisory", "-N1", "-t", "30", "--begin-by=now+2minutes"); err == nil || !strings.Contains(out, "Not as likely as that: ") || !strings.Contains(out, "\nThe same job: running by ") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, told, err = b.varq("quote", "--advisory", "-N1", "-t", "30", "--finish-by=now+10hours"); err != nil || !strings.Contains(out, "Likely: finished by") || !strings.Contains(out, "\nThe same job: finished by ") {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	if _, told, err = b.varq("quote", "-N1", "-t", "30", "--begin-by=now+10hours"); err == nil || !strings.Contains(told, "'varq quote --advisory' tells") {
		t.Errorf("%v\n%s", err, told)
	}
	for _, option := range []string{"--on-miss=cancel", "--max-cost=1", "--begin-after=now+1hour"} {
		name, _, _ := strings.Cut(option, "=")
		if _, told, err = b.varq("quote", "--advisory", "-N1", "-t", "30", "--begin-by=now+10hours", option); err == nil || !strings.Contains(told, name+": with --advisory") {
			t.Errorf("%s: %v\n%s", option, err, told)
		}
	}
	if out, told, err = b.varq("shadow", "--mine"); err != nil || !strings.Contains(out, "of yours that began to wait between") || !strings.Contains(out, "would have been promised to") || !strings.Contains(out, "Delivered") {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	if out, told, err = b.varq("shadow", "--mine", "-S", "now-1minute"); err != nil || out != "No job of yours is known that began to wait in this time and has started.\n" {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	if out, told, err = b.varq("shadow", "--mine", "--json"); err != nil || !strings.Contains(out, `"rows": [`) {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	if _, told, err = b.varq("shadow"); err == nil || !strings.Contains(told, "of whose jobs: --mine") {
		t.Errorf("%v\n%s", err, told)
	}
	for _, name := range []string{"squeue", "sacct"} {
		if n := b.asked(name); n < 1 || n > most() {
			t.Errorf("%s ran %d times in %v", name, n, time.Since(began))
		}
	}
	b.stop()
	if out, told, err = b.varq("when"); err != nil || !strings.Contains(out, "1502 main") {
		t.Errorf("%v\n%s%s", err, out, told)
	}
	// What it was told of the queue and the nodes serves on.
	if n, m := b.asked("squeue"), b.asked("scontrol"); n > most() || m != 5 {
		t.Errorf("squeue ran %d times in %v, scontrol %d", n, time.Since(began), m)
	}
}

// A user whose disk is full gets forecasts all the same, and reads that the past is not kept.
func TestAloneOnFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	b := newBare(t)
	cache := filepath.Join(b.home, ".cache")
	if err := errors.Join(os.Mkdir(cache, 0o700), syscall.Mount("tmpfs", cache, "tmpfs", 0, "size=256k")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(cache, syscall.MNT_DETACH) })
	if err := os.WriteFile(filepath.Join(cache, "other"), make([]byte, 256<<10), 0o600); !errors.Is(err, syscall.ENOSPC) && err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out, told, err := b.varq("when")
		if err != nil || !strings.Contains(out, "1502 main") || !strings.Contains(told, "from 5") || !strings.Contains(told, "what it knows of the past is in memory, and is asked for again once it has ended: ") {
			t.Errorf("%v\n%s%s", err, out, told)
		}
	}
	if n, m := b.asked("sacct"), b.asked("squeue"); n != 1 || m != 1 {
		t.Errorf("sacct ran %d times, squeue %d", n, m)
	}
}

// Without Slurm's commands there is nothing to forecast from, and the user reads so.
func TestAloneWithoutSlurm(t *testing.T) {
	b := newBare(t)
	for _, name := range []string{"squeue", "sacct", "scontrol"} {
		if err := os.Remove(filepath.Join(b.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := exec.LookPath("squeue"); err != nil {
		if _, told, err := b.varq("when"); err == nil || !strings.Contains(told, "neither a varqd nor Slurm's commands") {
			t.Errorf("%v\n%s", err, told)
		}
	}
	b.program("squeue", "")
	b.write(filepath.Join(b.bin, "scontrol"), "#!/bin/sh\necho slurm_load_conf error: Unable to contact slurm controller >&2\nexit 1\n", 0o700)
	if _, told, err := b.varq("when"); err == nil || !strings.Contains(told, "Unable to contact slurm controller") {
		t.Errorf("%v\n%s", err, told)
	}
	// What promises needs a varqd all the same.
	for _, command := range []string{"status", "limits", "report", "nodes"} {
		_, told, err := b.varq(command)
		if err == nil || !strings.Contains(told, "varqd is not reachable") || !strings.Contains(told, "needs varqd, which this cluster does not have") || strings.Contains(told, "systemctl") {
			t.Errorf("%s: %v\n%s", command, err, told)
		}
	}
}
