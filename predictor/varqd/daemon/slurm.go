package daemon

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"os/user"
	"strings"
	"sync/atomic"
	"time"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/live/ingest"
	"github.com/varq-project/varq/predictor/live/keeper"
	"github.com/varq-project/varq/predictor/live/premises"
	"github.com/varq-project/varq/predictor/slurm"
	"github.com/varq-project/varq/predictor/slurm/sacctmgr"
	"github.com/varq-project/varq/predictor/slurm/scontrol"
	"github.com/varq-project/varq/predictor/slurm/slurmrestd"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// Slurm is all that varqd needs of Slurm.
type Slurm interface {
	keeper.Slurm
	premises.Slurm
	ingest.Source
	// Queue returns every pending and running job. The slice is the caller's to change.
	Queue(ctx context.Context) ([]slurm.QueueEntry, error)
	// Clock measures by how much Slurm's clock is ahead of the host's. The true difference
	// lies within uncertainty of it, on either side.
	Clock(ctx context.Context) (ahead, uncertainty time.Duration, err error)
	// NodeEvents returns the history of the nodes, as sacctmgr.Command.Events does.
	NodeEvents(ctx context.Context, from int64) ([]sacctmgr.Event, error)
}

// slurmClient reads from slurmrestd, and from scontrol and sacctmgr what slurmrestd leaves out. It
// changes jobs by slurmrestd or, if that rejects their numbers, by scontrol. On a host without them
// varqd does without that part.
type slurmClient struct {
	*slurmrestd.Client
	scontrol scontrol.Command
	sacctmgr sacctmgr.Command
	user     string // whom Slurm takes it for, or "" if slurmrestd alone knows
	// partly says that SlurmUser was missing among the operators that were read last.
	partly atomic.Bool
}

// judged returns the user who is not an operator if Operators has not named it, or "" if that does
// not follow.
func (s *slurmClient) judged() string {
	if s.partly.Load() {
		return ""
	}
	return s.user
}

// newSlurmClient returns the client that c describes. It does not connect yet.
func newSlurmClient(c config.Slurmrestd, now func() time.Time) (*slurmClient, error) {
	client, name, err := connect(c, slurmrestd.Options{Now: now})
	if err != nil {
		return nil, err
	}
	s := &slurmClient{Client: client, user: name}
	if c.User == "" && token(c) == nil {
		s.user = "" // slurmrestd's own
	}
	return s, nil
}

// connect returns the client of the slurmrestd that c describes, and the user that it acts as.
func connect(c config.Slurmrestd, o slurmrestd.Options) (client *slurmrestd.Client, name string, err error) {
	name = c.User
	if name == "" {
		u, err := user.Current()
		if err != nil {
			return nil, "", fmt.Errorf("slurmrestd.user is not set, and who runs varqd is not known: %w", err)
		}
		name = u.Username
	}
	o.URL, o.User, o.Token, o.Timeout = c.URL, name, token(c), time.Duration(c.Timeout)
	client, err = slurmrestd.New(o)
	return client, name, err
}

// token returns the function that provides slurmrestd's tokens: from a file, else from a
// command. It returns nil if neither is configured.
func token(c config.Slurmrestd) func() (string, error) {
	if c.TokenFile != "" {
		return slurmrestd.TokenFile(c.TokenFile)
	}
	if words := strings.Fields(c.TokenCommand); len(words) > 0 {
		return slurmrestd.TokenCommand(words...)
	}
	return nil
}

// readTimeout bounds how long scontrol and slurmrestd may take together, and how long sacctmgr may.
const readTimeout = 2 * time.Minute

// Cluster implements premises.Slurm.
func (s *slurmClient) Cluster(ctx context.Context) (limits.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	cluster, err := s.Client.Cluster(ctx)
	if err != nil {
		return limits.Cluster{}, err
	}
	switch err := s.scontrol.Complete(ctx, &cluster); {
	case errors.Is(err, exec.ErrNotFound):
		cluster.PrivateJobs = true // nobody tells whether they are
	case err != nil:
		return limits.Cluster{}, err
	}
	return cluster, nil
}

// NodeEvents implements Slurm.
func (s *slurmClient) NodeEvents(ctx context.Context, from int64) ([]sacctmgr.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return s.sacctmgr.Events(ctx, from)
}

// Operators implements premises.Slurm. SlurmUser counts as an operator.
func (s *slurmClient) Operators(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	operators, err := s.Client.Operators(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.scontrol.Config(ctx)
	s.partly.Store(err != nil || c.SlurmUser == "")
	switch {
	case err == nil && c.SlurmUser != "":
		operators = append(operators, c.SlurmUser)
	case err != nil && !errors.Is(err, exec.ErrNotFound):
		return nil, err
	}
	return operators, nil
}

// Update implements keeper.Slurm. The slurmrestd of Slurm 24.11 rejects the ids of jobs of a
// federation, before anything is changed; then scontrol makes the change, with the rights of the
// user that varqd runs as.
func (s *slurmClient) Update(ctx context.Context, u slurm.Update) error {
	err := s.Client.Update(ctx, u)
	if err == nil || u.Job < slurmrestd.FirstFederated || !strings.Contains(err.Error(), "Invalid JobID") {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return s.scontrol.Update(ctx, u)
}
