// Package chain has the command for work that takes longer than a job may: a chain of jobs, each
// of which goes on where the one before it had to stop. Each job submits the next one when its own
// work begins, to be running when its own time limit ends. No daemon takes part, and no program
// beside the jobs.
package chain

import (
	"bytes"
	"context"
	_ "embed" // link.sh
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/prob"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
)

// mostLinks is the greatest number of jobs of a chain.
const mostLinks = 1000

//go:embed link.sh
var linkText string

var linkTemplate = template.Must(template.New("link").Funcs(template.FuncMap{"quote": cli.Quote}).Parse(linkText))

// link is what a job of a chain needs to know.
type link struct {
	ID, Folder string
	Limit      int64 // of the work, in seconds
	// Probs are the probabilities that are asked for, one after the other, until one is promised.
	Probs []string
	// Options are those of sbatch, and Arguments those of the script, quoted for a shell.
	Options, Arguments string
	Script             string // the path of the copy of the user's
}

// New returns the command chain.
func New(env *cli.Env) *cobra.Command {
	var links int
	var probability string
	cmd := &cobra.Command{
		Use:   "chain --links=N [--prob=P] -- sbatch [options of sbatch] SCRIPT [arguments]",
		Short: "Submit work that takes longer than a job may, as jobs one after another without a gap",
		Long: `Chain submits a script as a chain of jobs, as of a training run that goes on from its
last checkpoint. When the work of a link begins, it submits the next one, to be running
when its own time limit ends: with --begin-by, so that the next link becomes eligible
early enough by the forecast of its wait, and no earlier than that.
If that cannot be promised with --prob, lower probabilities are asked for, .75, .5 and
.25, and at last the next link is submitted to start after this one (afterany).

When the script ends with exit code 0, and no signal has told it to stop before, the
work is done, and the link that waits is cancelled. When Slurm requeues a link, the next
one comes anew, unless it works already: then that one goes on.

What it costs: the nodes of a link may idle before its work, as 'varq status' tells. A
link that comes late leaves a gap, in which nothing runs and nothing is charged.

Compute nodes have to be able to submit jobs. sbatch must be given a time limit (--time).

Without -- it tells of your chains: for each link when its work began and ended, and
how long after the one before it. A chain of which no job is in the queue is over.`,
		Example: `  varq chain --links=10 -- sbatch -N1 --gpus=4 -t 24:00:00 train.sh
  varq chain
  varq chain stop abcdef`,
	}
	cmd.Flags().IntVar(&links, "links", 0, "how many `jobs` the chain has at most")
	cmd.Flags().StringVar(&probability, "prob", "0.9", "the `probability` that a link is running when the one before it has to stop")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if dash := cmd.ArgsLenAtDash(); dash == 0 && len(args) >= 2 || dash < 0 && len(args) == 0 {
			return nil
		}
		return cli.Usage(cmd, errors.New("give sbatch and its job after --: varq chain --links=10 -- sbatch -t 24:00:00 train.sh"))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			if cmd.Flags().Changed("links") || cmd.Flags().Changed("prob") {
				return cli.Usage(cmd, errors.New("give sbatch and its job after --: varq chain --links=10 -- sbatch -t 24:00:00 train.sh"))
			}
			return list(cmd.Context(), env)
		}
		if links < 1 || links > mostLinks {
			return cli.Usage(cmd, fmt.Errorf("--links: a chain has 1 to %d jobs", mostLinks))
		}
		p, err := prob.Parse(probability)
		if err != nil {
			return cli.Usage(cmd, fmt.Errorf("--prob: %w", err))
		}
		return begin(cmd.Context(), env, links, p, args)
	}
	cmd.AddCommand(newStop(env))
	return cmd
}

// asked is an option with which varq-filter reads those of sbatch. Nothing is promised by it.
const asked = "--begin-by=now+1hour"

// begin submits the first link of a chain.
func begin(ctx context.Context, env *cli.Env, links int, p float64, args []string) error {
	program := sbatch.Program{Path: args[0], Env: os.Environ(), Own: []string{asked}, Args: args[1:]}
	if filepath.Base(program.Path) != "sbatch" {
		return fmt.Errorf("%.40q is not sbatch, which alone makes jobs of a chain", program.Path)
	}
	promises := func(word string) bool {
		return strings.HasPrefix(word, "--begin-b") || strings.HasPrefix(word, "--fin") || word == "--prob"
	}
	if i := slices.IndexFunc(program.Args, promises); i >= 0 {
		return fmt.Errorf("%s: what is promised of each link the chain asks for: leave it out, and give --prob before --", program.Args[i])
	}
	job, err := program.Describe(ctx, sbatch.Order{Chain: true})
	switch {
	case err != nil:
		return err
	case job.Arguments == 0:
		return errors.New("a chain has a script: --wrap cannot be one of its links")
	case job.Job.Limit == 0:
		return errors.New("give sbatch a time limit (--time), at whose end the next link is to be running")
	}
	words := len(program.Args) - job.Arguments
	l := link{ID: api.NewPlanID()[:6], Limit: job.Job.Limit, Options: quoted(program.Args[:words]), Arguments: quoted(program.Args[words+1:]), Probs: probs(p)}
	folder, err := folder(env)
	if err != nil {
		return err
	}
	l.Folder = filepath.Join(folder, l.ID)
	l.Script = filepath.Join(l.Folder, "script")
	if err := l.write(program.Args[words]); err != nil {
		return err
	}
	submit := append(append([]string{"--parsable"}, program.Args[:words]...), filepath.Join(l.Folder, "link"), strconv.Itoa(links-1))
	cmd := exec.CommandContext(ctx, program.Path, append(submit, program.Args[words+1:]...)...)
	cmd.Stderr = env.Stderr
	out, err := cmd.Output()
	if err != nil {
		return errors.Join(fmt.Errorf("sbatch: %w", err), os.RemoveAll(l.Folder))
	}
	number, _, _ := strings.Cut(strings.TrimSpace(string(out)), ";")
	fmt.Fprintf(env.Stdout, "chain %s: job %s, and up to %d after it\n", l.ID, number, links-1)
	return os.WriteFile(filepath.Join(l.Folder, "next."+strconv.Itoa(links)), out, 0o600)
}

// ladder are probabilities that are asked for when a higher one is refused.
var ladder = [...]float64{.75, .5, .25}

// probs returns the probabilities to ask for, from the one of the user on.
func probs(p float64) []string {
	all := []string{prob.Format(p)}
	for _, lower := range ladder {
		if lower < p {
			all = append(all, prob.Format(lower))
		}
	}
	return all
}

// quoted returns words as a shell reads them.
func quoted(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = cli.Quote(word)
	}
	return strings.Join(all, " ")
}

// write writes the folder of a chain: a copy of a script, and the script of its links, which has
// the options of sbatch that the other has in its head.
func (l *link) write(script string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(text, []byte("#!")) {
		return fmt.Errorf("%s: it does not begin with #!, as a script does", script)
	}
	if err := os.MkdirAll(l.Folder, 0o700); err != nil {
		return err
	}
	var body bytes.Buffer
	body.WriteString("#!/bin/sh\n" + directives(text) + "\n")
	if err := linkTemplate.Execute(&body, l); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(l.Folder, "links"), fmt.Appendf(nil, "limit %d\n", l.Limit), 0o600),
		os.WriteFile(l.Script, text, 0o700),
		os.WriteFile(filepath.Join(l.Folder, "link"), body.Bytes(), 0o700),
	)
}

// directives returns the lines of a script from which sbatch reads options: comments before the
// first command.
func directives(script []byte) string {
	var s strings.Builder
	for line := range strings.Lines(string(script)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "#SBATCH"):
			s.WriteString(line + "\n")
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#"):
			return s.String()
		}
	}
	return s.String()
}
