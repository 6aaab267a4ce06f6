package reserve

import (
	"strings"
	"testing"
)

// Of varq's options for sbatch those in the script give way to reserve's own, and its user reads
// so; where reserve has nothing in their place, and on the command line, they are errors.
func TestReserveGivesWay(t *testing.T) {
	t.Parallel()
	const begin = "#!/bin/sh\n# a job\n#SBATCH -N1 -t5\n\n"
	for _, c := range []struct {
		flags   flags
		options string // of sbatch
		script  string
		note    string
		err     string
	}{
		{script: begin + "true\n#SBATCH --prob=.99\n"},
		{script: begin + "#SBATCH --max-cost=2x --on-miss=cancel # --prob=.9\n"},
		{script: begin + "#SBATCH -J x --begin-by=17:00\n", note: "instead of --begin-by=17:00 of the script: --latest or --finish-by of varq reserve"},
		{script: begin + "#SBATCH --begin-by '17:00' --size-by=cost\n", note: "instead of --begin-by and --size-by=cost of the script: --latest or --finish-by and --prefer of varq reserve"},
		{script: begin + "#SBATCH --prob=.99\n", err: `the script has "--prob=.99": give varq reserve --min-prob, before --`},
		{flags: flags{MinProb: ".9"}, script: begin + "#SBATCH --prob=.99\n", note: "instead of --prob=.99 of the script: --min-prob of varq reserve"},
		{script: begin + "#SBATCH --sizes=1:5,2:3\n", err: `the script has "--sizes=1:5,2:3": give varq reserve --sizes, before --`},
		{flags: flags{Sizes: "4:2h"}, script: begin + "#SBATCH --sizes=1:5,2:3\n", note: "instead of --sizes=1:5,2:3 of the script: --sizes of varq reserve"},
		{script: begin + "#SBATCH --best-effort\n", err: `the script has "--best-effort": give varq reserve --best-effort, before --`},
		{flags: flags{BestEffort: true}, script: begin + "#SBATCH --best-effort\n"},
		{flags: flags{AnyOf: true}, script: begin + "#SBATCH --best-effort\n"},
		{flags: flags{MinProb: ".9"}, options: "--prob=.9", err: "--prob does not go together with varq reserve: give --min-prob instead, before --"},
		{options: "--size-by=cost", script: begin, err: "--size-by does not go together with varq reserve: give --prefer instead, before --"},
	} {
		f := c.flags
		f.Command = append(append([]string{"sbatch", "-N1"}, strings.Fields(c.options)...), "job.sh", "--prob=.7")
		notes, err := f.giveWay(2, []byte(c.script))
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err || strings.Join(notes, "; ") != c.note {
			t.Errorf("%s %q: %q, %v", c.options, c.script, notes, err)
		}
	}
}
