package cluster

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

func (s state) databaseSocket() string { return filepath.Join(s.Database, "run", "mysql", "socket") }

// databaseFlags returns options that make MariaDB start quickly. MariaDB may then lose data in
// a power failure, which does not matter because the data are temporary.
func (s state) databaseFlags() []string {
	return []string{
		"--no-defaults", "--user=mysql", "--datadir=" + s.Path("mysql"), "--tmpdir=" + s.Path("run", "mysql"),
		"--innodb-flush-method=nosync", "--debug-no-sync",
		"--innodb-flush-log-at-trx-commit=2", "--innodb-log-file-size=64M",
	}
}

func (s state) mariadbArgs() []string {
	return append(append([]string{"mariadbd"}, s.databaseFlags()...),
		"--socket="+s.databaseSocket(), "--skip-networking", "--skip-log-bin", "--skip-name-resolve",
		"--innodb-buffer-pool-size=256M", "--innodb-lock-wait-timeout=900", "--performance-schema=OFF")
}

// startDatabase creates an empty database, starts MariaDB, and gives slurmdbd all rights on
// the database. MariaDB authenticates slurmdbd, and root for this package, by the Unix user of
// the socket's peer.
func (c *Cluster) startDatabase(ctx context.Context) error {
	args := append(c.databaseFlags(), "--auth-root-authentication-method=socket", "--skip-test-db",
		"--force") // works even if the machine's host name does not resolve
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

// sql runs statements in MariaDB as root and returns the rows that they select. Each row is a
// line; tabs separate the columns.
func (c *Cluster) sql(ctx context.Context, statements io.Reader) (string, error) {
	cmd := c.Command(ctx, "root", "mariadb", "--no-defaults", "--batch", "--skip-column-names",
		"--socket="+c.databaseSocket())
	cmd.Stdin = statements
	return output(cmd)
}

// Query formats one statement, runs it in slurmdbd's database, and returns the rows that it
// selects, as sql does. The jobs of the cluster NAME are in the table NAME_job_table.
func (c *Cluster) Query(ctx context.Context, format string, args ...any) (string, error) {
	return c.sql(ctx, strings.NewReader("use "+databaseName+";\n"+fmt.Sprintf(format, args...)+";\n"))
}
