package daemon

import (
	"context"
	"os"
	"os/user"
	"time"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/doctor"
)

// Examine examines whether a daemon with the configuration c would work: the files that c
// names, and if live is true also Slurm and this host.
func Examine(ctx context.Context, c config.Config, live bool) ([]doctor.Finding, error) {
	findings := doctor.Files(&c)
	if os.Geteuid() == 0 {
		if _, err := user.Lookup("varq"); err == nil {
			findings = append([]doctor.Finding{doctor.AsRoot}, findings...)
		}
	}
	rules := c.Rules()
	if !live {
		if len(rules) > 0 {
			findings = append(findings, doctor.UncheckedPolicy)
		}
		return findings, nil
	}
	client, err := newSlurmClient(c.Slurmrestd, time.Now)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	access := doctor.Access{Client: client, User: client.user, Renewed: c.Slurmrestd.TokenFile == ""}
	findings = append(findings, doctor.Slurm(ctx, access, time.Now())...)
	findings = append(findings, doctor.RestMemory("/proc", c.Slurmrestd.URL)...)
	if len(rules) > 0 {
		cluster, err := client.Cluster(ctx)
		findings = append(findings, doctor.Policy(rules.Unknown(&cluster), err)...)
	}
	for i := range c.Sites {
		if s := &c.Sites[i]; s.HasNoVarqd() {
			abroad, err := connectAbroad(s, time.Now)
			if err != nil {
				return nil, err
			}
			findings = append(findings, doctor.Bare(ctx, s.Name, abroad))
			abroad.Close()
		}
	}
	return append(findings, doctor.Host(ctx, c.Server.MungeSocket)...), nil
}
