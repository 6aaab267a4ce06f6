package command

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/jobrisk"
)

// BenchmarkAdvise is varq advise in a job, by what the node's cache has.
func BenchmarkAdvise(b *testing.B) {
	env := Env{Env: cli.Env{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Zone: time.UTC, Now: func() int64 { return now },
	}}
	dir := b.TempDir()
	env.Getenv = func(name string) string {
		return map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[1-64]", "SLURM_JOB_END_TIME": "1795309200", "TMPDIR": dir}[name]
	}
	finder := jobrisk.Finder{Job: "7", Nodes: "node[1-64]", Dir: jobrisk.Dir(env.Getenv), Now: env.Now, Ask: func(context.Context, string) (api.Risk, error) {
		return api.Risk{At: now, Within: []api.ExpectedFailures{{Within: 3600, Failures: .01}, {Within: 86400, Failures: .2}}, Rate: 1e-6}, nil
	}}
	if _, err := finder.Find(b.Context()); err != nil {
		b.Fatal(err)
	}
	args := strings.Fields("advise --cost=12m --interval=1m --since-last=60 --endpoint=unix:///nowhere")
	for b.Loop() {
		if code := Run(args, env); code > ExitNo {
			b.Fatal(code)
		}
	}
}
