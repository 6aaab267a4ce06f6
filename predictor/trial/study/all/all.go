// Package all lists the studies. Each has a package of its own, in the folder of its paper.
package all

import (
	"github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/chains"
	"github.com/varq-project/varq/predictor/trial/study/checkpoints"
	"github.com/varq-project/varq/predictor/trial/study/deadlines"
	"github.com/varq-project/varq/predictor/trial/study/faults"
	"github.com/varq-project/varq/predictor/trial/study/flows"
	"github.com/varq-project/varq/predictor/trial/study/joint"
	"github.com/varq-project/varq/predictor/trial/study/moldable"
	"github.com/varq-project/varq/predictor/trial/study/oliner"
	"github.com/varq-project/varq/predictor/trial/study/roblitz"
	"github.com/varq-project/varq/predictor/trial/study/smith"
	"github.com/varq-project/varq/predictor/trial/study/varq"
)

// Studies returns all studies by name, which is that of their reports.
func Studies() map[string]study.Study {
	return map[string]study.Study{
		"chains":      chains.Study{},
		"checkpoints": checkpoints.Study{},
		"deadlines":   deadlines.Study{},
		"downey":      moldable.Downey{},
		"faults":      faults.Study{},
		"flows":       flows.Study{},
		"forecasters": varq.Forecasters{},
		"joint":       joint.Study{},
		"moldable":    moldable.Study{},
		"oliner":      oliner.Study{},
		"roblitz":     roblitz.Study{},
		"smith":       smith.Study{},
		"varq":        varq.Study{},
	}
}
