package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The limits that jobs may run into, in minutes: MaxTime of the partition short, and MaxWall of
// the QOS fast.
const (
	shortMaxTime = 5
	fastMaxWall  = 2
)

// limitedPartition and limitedQOS are their names.
const (
	limitedPartition = "short"
	limitedQOS       = "fast"
)

func slurmConf(nodes int) string {
	return fmt.Sprintf(`AccountingStorageEnforce=associations,limits,qos
PartitionName=%s Nodes=node[1-%d] MaxTime=%d DefaultTime=1 State=UP
`, limitedPartition, max(1, nodes/4), shortMaxTime)
}

// work is the script of every job. It writes when the work begins and ends, and which run of the
// job it is, into a file of the job's name.
const work = `#!/bin/bash
echo begin $(date +%s.%N) ${SLURM_RESTART_COUNT:-0} >> "$3/$1"
sleep "$2"
echo end $(date +%s.%N) ${SLURM_RESTART_COUNT:-0} >> "$3/$1"
`

func (c *campaign) workFile() string { return c.Path("jobs", "work.sh") }
func (c *campaign) stamps() string   { return c.Path("jobs", "stamps") }
func (c *campaign) outputs() string  { return c.Path("jobs", "outputs") }

// disk is the folder of varqd's files. It is a file system of its own, which can be full.
func (c *campaign) disk() string    { return c.Path("disk") }
func (c *campaign) ledger() string  { return filepath.Join(c.disk(), "ledger.db") }
func (c *campaign) history() string { return filepath.Join(c.disk(), "history.db") }

// diskSize is the size of disk.
const diskSize = "96m"

// prepare makes of a usual site one for a campaign.
func (c *campaign) prepare(ctx context.Context) error {
	if err := c.StopVarqd(); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"add", "qos", limitedQOS, "set", fmt.Sprintf("MaxWall=%d", fastMaxWall)},
		{"modify", "user", "where", "name=" + strings.Join(users, ","), "set", "qos+=" + limitedQOS},
	} {
		if out, err := c.Command(ctx, "root", "sacctmgr", append([]string{"-i"}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("sacctmgr %v: %w: %s", args, err, out)
		}
	}
	if err := os.WriteFile(c.workFile(), []byte(work), 0o755); err != nil {
		return err
	}
	for _, dir := range []string{c.stamps(), c.outputs()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
			return err
		}
	}
	if err := c.makeDisk(); err != nil {
		return err
	}
	var err error
	if c.proxy, err = newProxy(c.RestURL(), c.random(2_000_000)); err != nil {
		return err
	}
	if err := c.configure(); err != nil {
		return err
	}
	skewed, err := c.Skewed(ctx)
	if err != nil {
		return err
	}
	c.varqd = newVarqd(c, c.installed("usr/sbin/varqd"), skewed)
	if err := c.varqd.start(); err != nil {
		return err
	}
	return c.waitWell(ctx)
}

// installed returns the path of an installed file.
func (c *campaign) installed(name string) string {
	return filepath.Join(filepath.Dir(c.Config()), "../..", name)
}

// makeDisk makes the file system of varqd's files.
func (c *campaign) makeDisk() error {
	if err := os.Mkdir(c.disk(), 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", c.disk(), "tmpfs", 0, "mode=777,size="+diskSize); err != nil {
		return fmt.Errorf("mounting %s: %w", c.disk(), err)
	}
	if !c.o.Version.InChroot() {
		return nil
	}
	inChroot := filepath.Join(c.Path("root"), c.disk())
	if err := syscall.Mount(c.disk(), inChroot, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("binding %s: %w", inChroot, err)
	}
	return nil
}

// grace is watch.grace, so that a plan without a job closes during the campaign.
const grace = "1m"

// configure lets varqd speak to Slurm through the proxy, and write to disk.
func (c *campaign) configure() error {
	text, err := os.ReadFile(c.Config())
	if err != nil {
		return err
	}
	edited := strings.NewReplacer(
		c.RestURL(), c.proxy.url(),
		c.Path("varq", "ledger.db"), c.ledger(),
		c.History(), c.history(),
		"watch:\n", "watch:\n  grace: "+grace+"\n",
	).Replace(string(text))
	return os.WriteFile(c.Config(), []byte(edited), 0o644)
}
