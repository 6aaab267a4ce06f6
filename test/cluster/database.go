package cluster

import (
	"context"
	"fmt"
	"io"
	"strings"
)

func (c *Cluster) databaseSocket() string { return c.Path("run", "mysql", "socket") }

// databaseFlags make MariaDB quick to start and careless of power cuts: the
// data are thrown away anyhow.
func (c *Cluster) databaseFlags() []string {
	return []string{
		"--no-defaults", "--user=mysql", "--datadir=" + c.Path("mysql"), "--tmpdir=" + c.Path("run", "mysql"),
		"--innodb-flush-method=nosync", "--debug-no-sync",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=64M",
	}
}

func (c *Cluster) mariadbArgs() []string {
	return append(append([]string{"mariadbd"}, c.databaseFlags()...),
		"--socket="+c.databaseSocket(), "--skip-networking", "--skip-log-bin", "--skip-name-resolve",
		"--innodb-buffer-pool-size=256M", "--innodb-lock-wait-timeout=900", "--performance-schema=OFF")
}

// startDatabase makes an empty database that slurmdbd may fill. Both it and we
// are known to MariaDB by the user at the other end of the socket.
func (c *Cluster) startDatabase(ctx context.Context) error {
	args := append(c.databaseFlags(), "--auth-root-authentication-method=socket", "--skip-test-db",
		"--force") // even if the machine's name does not resolve
	if _, err := c.output(ctx, "mariadb-install-db", args...); err != nil {
		return err
	}
	if err := c.StartDaemon(ctx, MariaDB); err != nil {
		return err
	}
	_, err := c.sql(ctx, strings.NewReader(`
create database `+databaseName+`;
create user slurm@localhost identified via unix_socket;
grant all on `+databaseName+`.* to slurm@localhost;
`))
	return err
}

// sql runs statements on the accounting database and returns the rows they
// select, a line each, the columns separated by tabs.
func (c *Cluster) sql(ctx context.Context, statements io.Reader) (string, error) {
	cmd := c.Command(ctx, "root", "mariadb", "--no-defaults", "--batch", "--skip-column-names",
		"--socket="+c.databaseSocket())
	cmd.Stdin = statements
	return output(cmd)
}

// query is sql on Slurm's tables.
func (c *Cluster) query(ctx context.Context, format string, args ...any) (string, error) {
	return c.sql(ctx, strings.NewReader("use "+databaseName+";\n"+fmt.Sprintf(format, args...)+";\n"))
}
