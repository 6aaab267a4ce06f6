package sites

import (
	"context"
	"os"

	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// Job is the job that is to run at one of several sites.
type Job struct {
	// Command is sbatch with its options and the script, as the user gives it.
	Command []string
	// BestEffort says that the work need not be held.
	BestEffort bool
	// Sized says that the job's sizes are varq's, and not those of sbatch's options, and Reference
	// that these sizes follow from sbatch's --time.
	Sized, Reference bool
	// Description is the job as sbatch has read it.
	Description *sbatch.Description
}

// Describe returns the job's request as the sbatch of a site reads it, with options of varq's.
func (j *Job) Describe(ctx context.Context, at *Site, options ...string) (*sbatch.Description, error) {
	return at.sbatch(j, options...).Describe(ctx, sbatch.Order{Site: at.Order(), Reference: j.Reference})
}

// sbatch returns the site's sbatch for a job, with options of varq's.
func (s *Site) sbatch(job *Job, options ...string) *sbatch.Program {
	p := &sbatch.Program{Path: s.program(job.Command[0]), Env: os.Environ(), Own: options, Args: job.Command[1:]}
	switch {
	case s.SlurmConf != "":
		p.Env = append(p.Env, "SLURM_CONF="+s.SlurmConf)
	case !s.Own:
		p.Cluster = s.Name()
	}
	return p
}
