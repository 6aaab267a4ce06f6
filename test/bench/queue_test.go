package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// BenchmarkQueue asks for promises and for forecasts while 5,000 jobs wait, and promises are asked
// for until there is room for no more, and beyond. It reports how long it takes varqd to see the
// jobs, how long its answers take, and its memory.
func BenchmarkQueue(b *testing.B) {
	const waiting, asked = 5000, 100
	ctx := b.Context()
	s := site.ForTest(b, site.Options{History: site.Calm(time.Now().Unix())})
	bare, err := withoutVarq(s, "bare", `(?mi)^(CliFilterPlugins|PlugStackConfig)=.*\n`)
	if err != nil {
		b.Fatal(err)
	}
	c, err := s.Client()
	if err != nil {
		b.Fatal(err)
	}
	// The first jobs have the whole cluster for an hour. So the others wait.
	submit := fmt.Sprintf(`seq %d | xargs -P 8 -I{} sbatch --quiet --job-name=job{} --time=60 --exclusive --output=/dev/null --wrap="sleep 3600"`, waiting)
	if r, err := s.Run(ctx, "alice", "env", "SLURM_CONF="+bare, "bash", "-c", submit); err != nil || r.Code != 0 {
		b.Fatalf("sbatch: %v %s", err, r.Stderr)
	}
	began := time.Now()
	question := api.PredictRequest{Job: request(began).Job}
	for {
		a, err := c.Predict(ctx, question)
		if err != nil {
			b.Fatal(err)
		}
		if a.Waiting > waiting-100 {
			break
		}
		time.Sleep(time.Second)
	}
	seen := time.Since(began)
	for b.Loop() {
		var promised, refused, forecast []time.Duration
		for range asked {
			began := time.Now()
			a, err := c.Plan(ctx, request(began))
			if err != nil {
				b.Fatal(err)
			}
			if took := time.Since(began); a.Plan != nil {
				promised = append(promised, took)
			} else {
				refused = append(refused, took)
			}
			began = time.Now()
			if _, err := c.Predict(ctx, question); err != nil {
				b.Fatal(err)
			}
			forecast = append(forecast, time.Since(began))
		}
		for name, took := range map[string][]time.Duration{"promised": promised, "refused": refused, "forecast": forecast} {
			if len(took) == 0 {
				b.Fatalf("no question was %s", name)
			}
			b.ReportMetric(median(took), "ms/"+name+"-median")
			b.ReportMetric(slices.Max(took).Seconds()*1000, "ms/"+name+"-slowest")
		}
	}
	rss, err := residentMiB(s.VarqdPID())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(seen.Seconds(), "s/seen")
	b.ReportMetric(rss, "MiB/rss")
	b.ReportMetric(0, "ns/op")
}
