package cluster

import (
	"os"
	"testing"
)

func TestStart(t *testing.T) {
	c := ForTest(t, Options{Progress: os.Stderr})
	out, err := output(c.Command(t.Context(), "alice", "srun", "-N4", "hostname"))
	t.Log(out, err)
	out, err = output(c.Command(t.Context(), "alice", "sinfo"))
	t.Log(out, err)
}
