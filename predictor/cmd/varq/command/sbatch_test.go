package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/promise/elastic"
	"github.com/varq-project/varq/predictor/varqd/sbatch"
	"github.com/varq-project/varq/predictor/workload"
)

// TestMain puts a fake sbatch, a squeue that shows one job, and an scontrol that does nothing where
// the scripts find them.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sbatch": func() { os.Exit(fakeSbatch(os.Args[1:])) }, "scontrol": func() {}, "squeue": func() { fmt.Println("4701|RUNNING") },
	})
}

// fakeSbatch is an sbatch with varq's filter. It submits job 4711 of plan abcdefgh2345, but for
// some scripts: Slurm knows nothing of broken.sh, varq of held.sh, full.sh is refused in partition
// main, slow.sh becomes job 4712, which is not confirmed in time, own.sh has an option of varq's,
// endless.sh no time limit, rigid.sh its number of nodes and several.sh its partitions, and
// stdin.sh is not a file.
func fakeSbatch(args []string) int {
	order, err := sbatch.ReadOrder(os.Environ())
	chain := len(args) > 1 && filepath.Base(args[len(args)-2]) == "link"
	if chain || slices.Contains(args, "--job-name=prepare") { // or of a flow
		fmt.Println(4711)
		return 0
	}
	if err != nil || order == nil {
		fmt.Fprintln(os.Stderr, "sbatch: error: no order", err)
		return 1
	}
	script := args[len(args)-1]
	if script == "broken.sh" {
		fmt.Fprintln(os.Stderr, "sbatch: error: Unable to open file broken.sh")
		return 1
	}
	if script == "held.sh" {
		fmt.Fprintln(os.Stderr, "varq: --hold does not go together with --begin-by: a held job does not start")
		return 1
	}
	if order.Chain && slices.Contains(args, "--array=1-3") {
		fmt.Fprintln(os.Stderr, "varq: --array does not go together with varq chain: each link of a chain is one job; leave it out")
		return 1
	}
	if script == "stdin.sh" {
		fmt.Fprintln(os.Stderr, "sbatch: error: Batch script is empty!")
		return 1
	}
	r := api.PlanRequest{Job: workload.Request{Account: "phys", Size: workload.Size{Nodes: 4, CPUs: 4}, Limit: 7200}, Needs: &workload.Needs{MostNodes: 4}}
	for _, arg := range args {
		if text, ok := strings.CutPrefix(arg, "--begin-by=uts"); ok {
			r.BeginBy, _ = strconv.ParseInt(text, 10, 64)
		}
		if text, ok := strings.CutPrefix(arg, "--qos="); ok {
			r.Job.QOS = text
		}
		if text, ok := strings.CutPrefix(arg, "--max-cost="); ok {
			r.MaxCost, _ = api.ParseMaxCost(text)
		}
		if text, ok := strings.CutPrefix(arg, "--sizes="); ok {
			sizes, err := elastic.ParseSizes(text)
			if err != nil {
				panic(err)
			}
			for _, s := range sizes {
				r.Sizes = append(r.Sizes, api.Size{Size: workload.Size{Nodes: s.Nodes, CPUs: s.Nodes}, Limit: s.Seconds})
			}
		}
	}
	switch {
	case len(r.Sizes) > 0:
		r.Job.Size, r.Job.Limit = workload.Size{}, 0
	case script == "endless.sh":
		r.Job.Limit = 0
	}
	switch script {
	case "own.sh":
		r.BeginBy++
	case "several.sh":
		r.Job.Partition = "main,short"
	}
	tell := func(r sbatch.Report) {
		if err := order.Tell(r); err != nil {
			panic(err)
		}
	}
	switch {
	case order.Describe:
		report := sbatch.Report{Request: &r, Parsable: slices.Contains(args, "--parsable"), Arguments: 1}
		if script == "rigid.sh" && len(r.Sizes) > 0 {
			report.Notes = []string{fmt.Sprintf("instead of --nodes=1 of the script: the sizes, reference %v", order.Reference)}
		}
		tell(report)
		return 1
	case script == "full.sh" && order.Partition == "main":
		tell(sbatch.Report{Refusal: &api.Refusal{Reason: "the room is gone"}})
		return 1
	}
	job := int64(4711)
	if script == "slow.sh" {
		job = 4712
	}
	plan := api.Plan{ID: "abcdefgh2345", BeginBy: r.BeginBy, WorkLimit: order.Limit, Estimate: .95}
	nodes := r.Job.Nodes
	if len(r.Sizes) > 0 {
		nodes, plan.WorkLimit = r.Sizes[0].Nodes, r.Sizes[0].Limit
		plan.SizeNodes = nodes
	}
	plan.Work.BillingSeconds = float64(int64(nodes) * plan.WorkLimit)
	tell(sbatch.Report{Plan: &plan})
	tell(sbatch.Report{Job: job})
	fmt.Println("Submitted batch job", job)
	return 0
}
