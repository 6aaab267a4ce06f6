package cluster

import "context"

// loadAccounts tells slurmdbd of the cluster, its accounts and users.
func (c *Cluster) loadAccounts(ctx context.Context) error {
	_, err := c.output(ctx, "sacctmgr", "--immediate", "--quiet", "load", "file="+c.Path("etc", "accounts"))
	return err
}
