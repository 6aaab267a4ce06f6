// Package ledger is the command that backs up, checks and restores the ledger of this host's varqd.
package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/live/statefile"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// New returns the command ledger.
func New(env *cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Back up, check and restore the ledger of this host's varqd",
		Long: `The ledger (ledger.path in ` + config.DefaultPath + `) has all promises and what became
of them, which nobody could learn again from Slurm. Its owner, varqd's user, backs it
up, checks it, and restores it, on varqd's host:

  runuser -u varq -- varq ledger backup /var/lib/varq/backup.db`,
		Example: `  varq ledger check`,
		Args:    cli.UnknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newBackup(env), newCheck(env), newRestore(env))
	for _, sub := range cmd.Commands() {
		sub.DisableFlagsInUseLine = true
	}
	return cmd
}

func newBackup(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the ledger to a new file, while varqd runs",
		Long: `Backup copies the ledger, as it is at one moment, to FILE, which must not be there
yet, and reads the copy again to check it. varqd may run and write meanwhile. FILE is
there when all of it is on disk, or not at all.`,
		Example: `  varq ledger backup backup.db`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := ownLedger(env, cmd, args)
			if err != nil {
				return err
			}
			to := args[0]
			if _, err := os.Lstat(to); err == nil {
				return fmt.Errorf("%s is there already; name a new file", to)
			}
			report, err := statefile.Backup(cmd.Context(), path, to)
			if err != nil {
				return err
			}
			return verdict(env, to, &report)
		},
	}
}

func newCheck(env *cli.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [--json] [FILE]",
		Short: "Say whether the ledger, or a backup of it, is whole, and what is in it",
		Long: `Check reads all of FILE, by default the ledger itself, which varqd may use meanwhile.
It says which schema version the file has, which varq has written it, how many
promises it has, and whether it is whole: no page is garbled, and its tables, indices,
views and triggers are those that varq makes. The exit code is 1 if it is damaged, or
is of a later version than this varq.`,
		Example: `  varq ledger check
  varq ledger check backup.db`,
		Args: cli.OneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := config.FindLedger(env.Getenv)
			if len(args) == 1 {
				path, err = args[0], nil
			}
			if err != nil {
				return err
			}
			if err := own(path, env, cmd, args); err != nil {
				return err
			}
			report, err := statefile.Check(cmd.Context(), path)
			if err != nil {
				return err
			}
			if !asJSON {
				return verdict(env, path, &report)
			}
			if err := cli.WriteJSON(env.Stdout, ledgerJSON{
				File: path, Schema: report.Version, Known: report.Known, Varq: report.Varq,
				Promises: report.Promises(), Open: report.Open, Last: report.Last, Rows: report.Rows, Damage: report.Damage,
			}); err != nil {
				return err
			}
			return usable(&report)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write it as JSON, with the number of rows of each table")
	return cmd
}

func newRestore(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the ledger, while varqd is stopped",
		Long: `Restore checks FILE, copies it, checks the copy, and puts that in the place of the
ledger. What was there stays beside it, under another name. varqd must not run. When
it starts again, it follows the promises in the backup that were open then, and
learns from Slurm what became of their jobs: it goes on from the begin times and
time limits they have. Of promises made since the backup it knows nothing: their
jobs keep the begin time and the time limit that they have, and their work is held
until its deadline as before, but nobody moves them, and they are in no report.`,
		Example: `  systemctl stop varqd
  varq ledger restore backup.db
  systemctl start varqd`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := ownLedger(env, cmd, args)
			if err != nil {
				return err
			}
			aside, err := statefile.Restore(cmd.Context(), args[0], path, env.Now())
			if errors.Is(err, statefile.ErrLocked) {
				return fmt.Errorf("%s: varqd runs; stop it before: systemctl stop varqd", path)
			} else if err != nil {
				return err
			}
			if aside != "" {
				fmt.Fprintf(env.Stdout, "what was there is now %s\n", aside)
			}
			report, err := statefile.Check(cmd.Context(), path)
			if err != nil {
				return err
			}
			return verdict(env, path, &report)
		},
	}
}

// oneFile accepts the name of one file.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usage(cmd, errors.New("name one file"))
	}
	return nil
}

// ownLedger returns the path of the ledger, which must be the user's own.
func ownLedger(env *cli.Env, cmd *cobra.Command, args []string) (string, error) {
	path, err := config.FindLedger(env.Getenv)
	if err != nil {
		return "", err
	}
	return path, own(path, env, cmd, args)
}

// own makes sure that a ledger belongs to the user who runs varq, or its folder if it is not there:
// SQLite writes beside it. What root writes there, varqd could not use any more, and it is varqd's
// user who decides what root would write to.
func own(path string, env *cli.Env, cmd *cobra.Command, args []string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("the ledger is on varqd's host, where ledger.path in %s tells: %w", config.Path(env.Getenv), err)
	}
	uid := info.Sys().(*syscall.Stat_t).Uid
	if int(uid) == os.Geteuid() {
		return nil
	}
	owner := strconv.Itoa(int(uid))
	if known, err := user.LookupId(owner); err == nil {
		owner = known.Username
	}
	words := strings.Join(append([]string{cmd.CommandPath()}, args...), " ")
	return fmt.Errorf("%s belongs to %s, as whom this has to run: runuser -u %s -- %s", path, owner, owner, words)
}

// ledgerJSON is what varq ledger check tells of a file.
type ledgerJSON struct {
	File     string           `json:"file"`
	Schema   int              `json:"schema"`
	Known    int              `json:"known"` // the schema version of this varq
	Varq     string           `json:"varq,omitempty"`
	Promises int64            `json:"promises"`
	Open     int64            `json:"open"`
	Last     int64            `json:"last,omitempty"` // Unix seconds
	Rows     map[string]int64 `json:"rows"`
	Damage   []string         `json:"damage,omitempty"`
}

// usable is cli.ErrNo for a file that varqd could not work with.
func usable(r *statefile.Report) error {
	if len(r.Damage) > 0 || r.TooNew() {
		return cli.ErrNo
	}
	return nil
}

// verdict tells people what is in a file, and ends as usable says.
func verdict(env *cli.Env, path string, r *statefile.Report) error {
	list := cli.Listing{Width: 9}
	list.WriteString(cli.Printable(path) + "\n")
	list.Line("schema", "version %d, by varq %s", r.Version, cmp.Or(cli.Printable(r.Varq), "of before it was written down"))
	if r.TooNew() {
		list.Line("", "later than this varq, which knows %d", r.Known)
	}
	last := ""
	if r.Last != 0 {
		last = ", the last made " + slurmtime.Format(r.Last, env.Zone)
	}
	list.Line("promises", "%s, of which %s are open%s", cli.Thousands(int(r.Promises())), cli.Thousands(int(r.Open)), last)
	if len(r.Damage) == 0 {
		list.Line("whole", "yes")
	}
	for _, text := range r.Damage {
		list.Line("damaged", "%s", cli.Printable(text))
	}
	if _, err := fmt.Fprint(env.Stdout, list.String()); err != nil {
		return err
	}
	return usable(r)
}
