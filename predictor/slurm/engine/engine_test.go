package engine

import (
	"strings"
	"testing"
)

const (
	uuid = "0c1f7a52-9be4-4d0e-8f6d-3a2b1c0d9e8f"
	hash = "9a2c4e6b8d0f1a3c5e7b9d1f2a4c6e"
	dir  = "/home/alice/study"
)

func TestOf(t *testing.T) {
	snakemake := func(run, task string) Job { return Job{Snakemake, run, task} }
	nextflow := func(run string) Job { return Job{Nextflow, run, ""} }
	for _, c := range []struct {
		name, comment, dir string
		want               Job
	}{
		{uuid, "rule_align_wildcards_s1_2", dir, snakemake(uuid, "align_wildcards_s1_2")},
		{uuid, "rule_align varq:abcdefghijkl", dir, snakemake(uuid, "align")},
		{"study-7_" + uuid, "rule_align", "", snakemake("study-7_"+uuid, "align")},
		{uuid, "align", dir, snakemake(uuid, "align")},
		{uuid, "", dir, snakemake(uuid, "")},
		{"snakejob.align.12.sh", "", dir, snakemake(dir, "")},
		{"snakejob_align_12", "", dir, snakemake(dir, "")},
		{"smk-align-sample=s1", "", dir, snakemake(dir, "")},
		{"nf-NFCORE_RNASEQ_ALIGN_(s1)", "", "/scratch/alice/work/3f/" + hash, nextflow("/scratch/alice/work")},
		{"called otherwise", "by a user", "/w/00/" + hash, nextflow("/w")},

		{"study_" + uuid, "", dir, Job{}},             // no rule says that it is Snakemake's
		{"study" + uuid, "rule_align", dir, Job{}},    // no "_"
		{"_" + uuid, "rule_align", dir, Job{}},        // no prefix
		{strings.ToUpper(uuid), "rule_a", dir, Job{}}, // not as Python writes it
		{strings.Replace(uuid, "4d0e", "1d0e", 1), "rule_align", dir, Job{}},
		{strings.Replace(uuid, "-", "0", 1), "rule_align", dir, Job{}},
		{strings.Replace(uuid, "f", "g", 1), "rule_align", dir, Job{}},
		{strings.Replace(uuid, "f", "-", 1), "rule_align", dir, Job{}},
		{"align", "rule_align_wildcards_s1", dir, Job{}},
		{"snakejobs", "", dir, Job{}},
		{"snakejob.align.12.sh", "", "", Job{}}, // from a folder that is not known
		{"nf-core", "", dir, Job{}},             // Nextflow itself may be a job
		{"nf-ALIGN", "", "/w/3f/" + hash[1:], Job{}},
		{"nf-ALIGN", "", "/w/3g/" + hash, Job{}},
		{"nf-ALIGN", "", "/w/3f/" + hash[:29] + "F", Job{}},
		{"nf-ALIGN", "", "/w/3f0/" + hash, Job{}},
		{"nf-ALIGN", "", "3f/" + hash, Job{}},
		{"", "", "", Job{}},
	} {
		if got := Of(c.name, c.comment, c.dir); got != c.want {
			t.Errorf("%q, %q, %q: %+v, want %+v", c.name, c.comment, c.dir, got, c.want)
		}
	}
}

// A run is the name or a folder that the job's is in, and a task a part of the comment.
func FuzzOf(f *testing.F) {
	f.Add(uuid, "rule_align_wildcards_s1", dir)
	f.Add("study_"+uuid, "rule_align", dir)
	f.Add("snakejob.align.12.sh", "", dir)
	f.Add("smk-align-", "", dir)
	f.Add("nf-ALIGN_(1)", "", "/w/3f/"+hash)
	f.Fuzz(func(t *testing.T, name, comment, dir string) {
		j := Of(name, comment, dir)
		switch {
		case (j.Name == "") != (j.Run == ""), j.Run == "" && j.Task != "", !strings.Contains(comment, j.Task):
		case j.Run == name, j.Task == "" && strings.HasPrefix(dir, j.Run):
			return
		}
		t.Errorf("%q, %q, %q: %+v", name, comment, dir, j)
	})
}
