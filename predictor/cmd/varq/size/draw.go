package size

import (
	"fmt"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/plot"
)

// drawSizes draws the sizes into the file path.
func drawSizes(env *cli.Env, path string, a answer, past *past) error {
	picture := &plot.Sizes{Title: "Expected time until the end, by nodes", Best: a.Best}
	for _, r := range a.Sizes {
		if r.Wait != nil {
			picture.Points = append(picture.Points, plot.SizePoint{Nodes: r.Nodes, Wait: *r.Wait, Run: r.Run, Low: r.RunLow, High: r.RunHigh})
		}
	}
	if past != nil {
		for _, r := range past.Runs {
			picture.Runs = append(picture.Runs, plot.SizeRun{Nodes: r.Nodes, Seconds: r.Seconds})
		}
	}
	if len(picture.Points) < 2 {
		fmt.Fprintf(env.Stderr, "varq: %s is not drawn: the wait of fewer than two sizes is known\n", path)
		return nil
	}
	if err := plot.Save(path, picture); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}
