package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
	"github.com/varq-project/varq/test/thorough"
)

// engines: one job of a run of a workflow engine stands for all that the engine has submitted, of
// which the end is forecast and promised.
func engines(t *testing.T, s *site.Site) {
	dir := filepath.Join(s.JobDir(), "engines")
	submit := func(args ...string) int64 {
		t.Helper()
		id, _, err := s.Submit(t.Context(), "alice", append([]string{"--begin=now+1hour", "--time=12:00:00", "--output=/dev/null", "--wrap=true"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	runs := map[string][]int64{}
	for i := range 3 {
		rule := fmt.Sprintf("rule_align_wildcards_s%d", i)
		runs["Snakemake's plugin"] = append(runs["Snakemake's plugin"], submit("--job-name=study_6f1c0a52-9be4-4d0e-8f6d-3a2b1c0d9e8f", "--comment="+rule, "--chdir="+dir))
		runs["Snakemake"] = append(runs["Snakemake"], submit(fmt.Sprintf("--job-name=snakejob.align.%d.sh", i), "--chdir="+dir))
		task := fmt.Sprintf("%s/work/3%d/9a2c4e6b8d0f1a3c5e7b9d1f2a4c6e", dir, i)
		runs["Nextflow"] = append(runs["Nextflow"], submit(fmt.Sprintf("--job-name=nf-ALIGN_(s%d)", i), "--chdir="+task))
	}
	runs["Nextflow"] = append(runs["Nextflow"], submit("--job-name=nf-SORT", "--array=0-3", "--chdir="+dir+"/work/a0/9a2c4e6b8d0f1a3c5e7b9d1f2a4c6e"))
	awaitLook(t, s)
	for name, ids := range runs {
		engine, _, _ := strings.Cut(name, "'")
		one := strconv.FormatInt(ids[1], 10)
		f := decode[api.Flow](t, mustRun(t, s, "alice", "varq", "flow", one, "--json").Stdout)
		if f.Engines != engine || f.End == nil || len(f.Jobs) != len(ids) {
			t.Errorf("%s: %+v", name, f)
		}
		for _, j := range f.Jobs {
			if name == "Snakemake's plugin" && !strings.HasPrefix(j.Name, "align_wildcards_s") {
				t.Errorf("%+v", j)
			}
		}
		a := decode[api.FlowAnswer](t, mustRun(t, s, "alice", "varq", "flow", one, "--finish-by=now+3days", "--prob=0.2", "--quote", "--json").Stdout)
		if a.Promised == nil || !slices.Equal(a.Promised.Jobs, ids) {
			t.Errorf("%s: %v, %+v", name, ids, a)
		}
		told := mustRun(t, s, "alice", "varq", "flow", one).Stdout
		if !strings.Contains(told, "They are of a run of "+engine+": jobs that it has yet to submit are neither forecast nor promised.\n") {
			t.Errorf("%s", told)
		}
		for _, id := range ids {
			mustRun(t, s, "alice", "scancel", strconv.FormatInt(id, 10))
		}
	}
}

// TestSnakemake is a workflow of five jobs, and of one after them, that a real Snakemake submits:
// each way that this one knows.
func TestSnakemake(t *testing.T) {
	thorough.Only(t)
	snakemake, err := exec.LookPath("snakemake")
	if err != nil {
		t.Skip("there is no Snakemake on the PATH: 'apt-get install snakemake' brings one")
	}
	inTurn(t, 1)
	s := site.ForTest(t, site.Options{Nodes: 4, History: calmAndDoomed()})
	if _, err := os.Stat(filepath.Join(s.Root(), snakemake)); err != nil {
		t.Skip("there is no Snakemake beside this Slurm: ", err)
	}
	help := mustRun(t, s, "alice", snakemake, "--help").Stdout
	for _, way := range []struct{ name, known, options string }{
		{"slurm", "[--slurm]", "--slurm --default-resources slurm_partition=main slurm_account=phys runtime=60 mem_mb=50"},
		{"cluster", "[--cluster ", "--cluster=sbatch\t--parsable\t--time=60\t--mem=50"},
		{"slurm plugin", "slurm,slurm-jobstep", "--executor slurm --default-resources slurm_partition=main slurm_account=phys runtime=60 mem_mb=50"},
		{"cluster plugin", "cluster-generic,", "--executor cluster-generic --cluster-generic-submit-cmd=sbatch\t--parsable\t--time=60\t--mem=50"},
	} {
		t.Run(way.name, func(t *testing.T) {
			if !strings.Contains(help, way.known) {
				t.Skip("this Snakemake does not know it")
			}
			dir := filepath.Join(s.JobDir(), strings.ReplaceAll(way.name, " ", "-"))
			gate := filepath.Join(dir, "go")
			file := fmt.Sprintf(`rule sum:
    input: expand("{n}.part", n=range(5))
    output: "sum"
    shell: "cat {input} > {output}"
rule part:
    output: "{n}.part"
    shell: "while [ ! -e %s ]; do sleep .2; done; echo {wildcards.n} > {output}"
`, gate)
			mustRun(t, s, "alice", "mkdir", dir)
			if err := os.WriteFile(filepath.Join(dir, "Snakefile"), []byte(file), 0o644); err != nil {
				t.Fatal(err)
			}
			ended := make(chan site.Run, 1)
			go func() {
				args := append(strings.Fields("--jobs 10 --max-status-checks-per-second 1 --directory "+dir+" --snakefile "+dir+"/Snakefile"), strings.Split(way.options, " ")...)
				r, _ := s.Run(t.Context(), "alice", snakemake, args...)
				ended <- r
			}()
			var ids []string
			eventually(t, "the five jobs are in the queue", func() bool {
				r := mustRun(t, s, "alice", "squeue", "--noheader", "--user=alice", "--format=%i")
				ids = strings.Fields(r.Stdout)
				select {
				case r := <-ended:
					t.Fatalf("Snakemake has ended: %+v", r)
				default:
				}
				return len(ids) == 5
			})
			awaitLook(t, s)
			f := decode[api.Flow](t, mustRun(t, s, "alice", "varq", "flow", ids[0], "--json").Stdout)
			if f.Engines != "Snakemake" || len(f.Jobs) != 5 {
				t.Errorf("%+v", f)
			}
			t.Log(mustRun(t, s, "alice", "varq", "flow", ids[0]).Stdout)
			mustRun(t, s, "alice", "touch", gate)
			select {
			case r := <-ended:
				if r.Code != 0 {
					t.Errorf("%+v", r)
				}
			case <-time.After(10 * time.Minute):
				t.Fatal("Snakemake does not end")
			}
			if sum, err := os.ReadFile(filepath.Join(dir, "sum")); string(sum) != "0\n1\n2\n3\n4\n" {
				t.Errorf("%q, %v", sum, err)
			}
		})
	}
}
