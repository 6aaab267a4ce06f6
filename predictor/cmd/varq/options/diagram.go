package options

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/plot"
)

// CalibrationTime is the default length, in seconds, of the time that a report about forecasts
// covers.
const CalibrationTime = 30 * 86400

// AddDiagram adds the option for the file of a reliability diagram.
func AddDiagram(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "plot", "", "draw the reliability diagram into `FILE`.svg or .png")
	cmd.Flags().Lookup("plot").NoOptDefVal = "reliability.svg"
	_ = cmd.MarkFlagFilename("plot", "svg", "png")
}

// CheckDiagram returns an error if a diagram cannot be drawn into a file. An empty name stands for
// none.
func CheckDiagram(file string) error {
	if file == "" {
		return nil
	}
	if _, err := plot.Format(file); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}
