package scontrol

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
)

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	path, said := filepath.Join(dir, "scontrol"), filepath.Join(dir, "said")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >"+said+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := Command{Path: path}
	comment := "two words"
	for _, u := range []struct {
		slurm.Update
		want error
	}{
		{slurm.Update{Job: 67108865, Owner: "alice", TimeLimit: 60}, slurm.ErrPermission},
		{slurm.Update{Job: 67108865, Resize: &slurm.Resize{Account: "a", Nodes: 2}}, slurm.ErrRefused},
		{slurm.Update{Job: 67108865}, nil},
	} {
		if err := c.Update(t.Context(), u.Update); !errors.Is(err, u.want) {
			t.Errorf("%+v: %v, want %v", u.Update, err, u.want)
		}
		if _, err := os.Stat(said); err == nil {
			t.Errorf("%+v: scontrol was run", u.Update)
		}
	}
	if err := c.Update(t.Context(), slurm.Update{Job: 67108865, BeginTime: 1800000000, TimeLimit: 61, Comment: &comment}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(said)
	if want := "update\nJobId=67108865\nStartTime=uts1800000000\nTimeLimit=2\nComment=two words\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestUpdateDenied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scontrol")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho slurm_update error: Access/permission denied >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := Command{Path: path}
	if err := c.Update(t.Context(), slurm.Update{Job: 1, BeginTime: 1}); !errors.Is(err, slurm.ErrPermission) {
		t.Errorf("%v", err)
	}
}
