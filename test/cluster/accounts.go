package cluster

import "context"

// loadAccounts adds the cluster, its accounts and its users to slurmdbd's database.
func (c *Cluster) loadAccounts(ctx context.Context) error {
	_, err := c.output(ctx, "sacctmgr", "--immediate", "--quiet", "load", "file="+c.Path("etc", "accounts"))
	return err
}
