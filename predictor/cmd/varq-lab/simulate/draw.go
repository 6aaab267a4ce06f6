package simulate

import (
	"os"
	"path/filepath"

	"github.com/varq-project/varq/predictor/plot"
)

// The pictures that draw draws.
const (
	loadPicture  = "load.svg"
	waitsPicture = "waits.svg"
)

// draw draws the trials into the folder dir, and makes it if it does not exist.
func draw(dir string, s setting, trials []*trial) error {
	load := &plot.Load{Title: s.String()}
	waits := &plot.Waits{Title: "How long jobs wait that do not reserve"}
	for _, t := range trials {
		load.Courses = append(load.Courses, plot.Course{
			Name: t.name(), Start: t.Series.Start, Step: t.Series.Step, Queued: t.Series.Queued, Busy: t.Series.Busy,
		})
		waits.Distributions = append(waits.Distributions, plot.Distribution{Name: t.name(), Percentiles: t.Others.Percentiles})
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := plot.Save(filepath.Join(dir, loadPicture), load); err != nil {
		return err
	}
	return plot.Save(filepath.Join(dir, waitsPicture), waits)
}
