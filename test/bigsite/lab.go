package bigsite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/varq-project/varq/test/cluster"
	"github.com/varq-project/varq/test/site"
)

// lab is one of the two sites.
type lab struct {
	Options
	*cluster.Cluster
	site  *site.Site // nil without varq
	began time.Time
}

// conf is what Slurm's guide for high throughput advises a busy site to set. Without defer,
// slurmctld looks for room for each job when it is submitted, and takes some 20 a second where
// 2,000 nodes are full. MaxJobCount counts an array's tasks, too. The partition batch has all nodes
// that short does not have.
const conf = `
MaxJobCount=%d
MaxArraySize=%d
MessageTimeout=60
SchedulerParameters=defer,max_rpc_cnt=100,sched_min_interval=2000000,bf_continue,bf_interval=30,bf_max_job_test=1000,bf_resolution=300,default_queue_depth=100,batch_sched_delay=3
AccountingStoreFlags=job_comment
PartitionName=batch Nodes=node[%d-%d],far[1-%d] MaxTime=2-00:00:00 DefaultTime=01:00:00 State=UP
`

func start(ctx context.Context, o Options, varq bool) (*lab, error) {
	l := &lab{Options: o, began: time.Now()}
	submitted := int(o.Rate * o.Duration.Seconds())
	slurmConf := fmt.Sprintf(conf, 2*(o.Running+o.Pending+o.Tasks+o.Reservations+submitted)+1000, o.Tasks+2,
		cluster.ShortNodes(o.realNodes())+1, o.realNodes(), o.declaredNodes())
	if !varq {
		var err error
		l.Cluster, err = cluster.Start(ctx, cluster.Options{
			Nodes: o.realNodes(), Declared: o.declaredNodes(), CPUs: cpus, SlurmConf: slurmConf, Progress: o.Progress,
		})
		return l, err
	}
	s, err := site.Start(ctx, site.Options{
		Nodes: o.realNodes(), Declared: o.declaredNodes(), CPUs: cpus, SlurmConf: slurmConf, Progress: o.Progress,
		DefaultWatch: true, RestTimeout: o.Timeout, VarqConf: fmt.Sprintf("watch:\n  load: %g\n", o.Load),
	})
	if err != nil {
		return nil, err
	}
	l.site, l.Cluster = s, s.Cluster
	return l, l.remember(ctx)
}

// remember gives varqd its past.
func (l *lab) remember(ctx context.Context) error {
	if err := l.site.StopVarqd(); err != nil {
		return errors.Join(err, l.stop())
	}
	began := time.Now()
	p := pastOf(&l.Options, began.Unix())
	if err := l.site.Remember(ctx, p.since(), p.jobs()); err != nil {
		return errors.Join(err, l.stop())
	}
	l.say("a past of %d days is in varqd's cache, within %.1f s", pastDays, time.Since(began).Seconds())
	began = time.Now()
	if err := l.site.StartVarqd(ctx); err != nil {
		return errors.Join(err, l.stop())
	}
	l.say("varqd is ready %.1f s after its start", time.Since(began).Seconds())
	return nil
}

func (l *lab) stop() error {
	if l.site != nil {
		return l.site.Stop()
	}
	return l.Stop()
}

func (l *lab) say(format string, args ...any) {
	fmt.Fprintf(l.Progress, "%6.0fs %s\n", time.Since(l.began).Seconds(), fmt.Sprintf(format, args...))
}

// logs are the ends of the daemons' logs.
func (l *lab) logs() string {
	text := "slurmctld:\n" + l.LogTail(cluster.Slurmctld)
	if l.site != nil {
		text += "\nslurmrestd:\n" + l.LogTail(cluster.Slurmrestd) + "\nvarqd:\n" + l.site.VarqdLog()
	}
	return text
}

// prepare prepares a command of a user.
func (l *lab) prepare(ctx context.Context, user string, command []string) *exec.Cmd {
	start := l.Command
	if l.site != nil {
		start = l.site.Prepare
	}
	cmd := start(ctx, user, command[0], command[1:]...)
	// so many commands end at once that the end of what they wrote may come late
	cmd.WaitDelay = time.Minute
	return cmd
}

// run runs a command, and returns what it printed.
func (l *lab) run(ctx context.Context, user string, command ...string) (string, error) {
	cmd := l.prepare(ctx, user, command)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), nil
}

// records counts the records in slurmctld's queue by their state.
func (l *lab) records(ctx context.Context) (map[string]int, error) {
	out, err := l.run(ctx, "root", "squeue", "--noheader", "--format=%T")
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, state := range strings.Fields(out) {
		count[state]++
	}
	return count, nil
}
