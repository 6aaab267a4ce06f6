package slurmrestd_test

import (
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/workload"
)

// resize gives a pending job another size, and one that has started none.
func (lab live) resize(t *testing.T) {
	ctx := t.Context()
	alice := lab.client("alice")
	account := ""
	for _, test := range []struct {
		options []string
		to      slurm.Resize
		tasks   int64
	}{
		{[]string{"-N1", "--exclusive"}, slurm.Resize{Nodes: 2, CPUs: 2}, 2},
		{[]string{"-N2"}, slurm.Resize{Nodes: 1, CPUs: 1, Fewer: true}, 1},
		{[]string{"-N1", "--ntasks-per-node=2"}, slurm.Resize{Nodes: 2, Tasks: 4, CPUs: 4}, 4},
		{[]string{"-N2", "--ntasks-per-node=2", "--cpus-per-task=2"}, slurm.Resize{Nodes: 1, Tasks: 2, CPUs: 4, CPUsPerTask: 2, Fewer: true}, 2},
		{[]string{"-n4", "-N2"}, slurm.Resize{Nodes: 1, CPUs: 4, Fewer: true}, 4},
	} {
		pending := lab.submit("alice", append(test.options, "--hold", "--time=10", "--wrap=true")...)
		before, err := alice.Job(ctx, pending)
		if err != nil {
			t.Fatal(err)
		}
		account = before.Account
		test.to.Account = account
		if err := alice.Update(ctx, slurm.Update{Job: pending, TimeLimit: 1200, Resize: &test.to}); err != nil {
			t.Fatal(err)
		}
		j, err := alice.Job(ctx, pending)
		if err != nil || j.Nodes != test.to.Nodes || int64(j.CPUs) != test.to.CPUs || j.Limit != 1200 || j.Shape.Tasks != test.tasks || j.Shape.CPUs != test.to.CPUs || j.Submit != before.Submit {
			t.Errorf("%v: %+v, %v", test.options, j, err)
		}
		if err := alice.Cancel(ctx, pending); err != nil {
			t.Fatal(err)
		}
	}
	for _, nodes := range []int32{1, 2} {
		running := lab.submit("alice", "-N", map[int32]string{1: "2", 2: "1"}[nodes], "--time=10", "--wrap=sleep 600")
		var j slurm.QueueEntry
		for j.State != workload.Running {
			var err error
			if j, err = alice.Job(ctx, running); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		to := slurm.Resize{Account: account, Nodes: nodes, CPUs: int64(nodes), Fewer: nodes == 1}
		err := alice.Update(ctx, slurm.Update{Job: running, TimeLimit: 300, Resize: &to})
		after, readErr := alice.Job(ctx, running)
		if err == nil || readErr != nil || after.Size != j.Size || after.Given != j.Given || after.Nodes != j.Nodes || after.Limit != 600 {
			t.Errorf("to %d nodes: %v, and then %+v, %v", nodes, err, after, readErr)
		}
		if err := alice.Cancel(ctx, running); err != nil {
			t.Fatal(err)
		}
	}
}
