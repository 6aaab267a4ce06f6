package report

import (
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
)

// groupColumn returns the column with the group's name, or no column if by is empty.
func groupColumn[R any](by string, group func(R) string) []table.Column[R] {
	if by == "" {
		return nil
	}
	return []table.Column[R]{{Name: strings.ToUpper(by[:1]) + by[1:], Value: group}}
}

// rowName names the forecaster of a row, that its forecasts are not of whole waits, and its group.
func rowName(r *api.CalibrationRow) string {
	var more []string
	if r.Of != "" && r.Of != api.OfWait && r.Of != r.Forecaster {
		more = append(more, r.Of)
	}
	if r.Group != "" {
		more = append(more, r.Group)
	}
	if more == nil {
		return r.Forecaster
	}
	return r.Forecaster + " (" + strings.Join(more, ", ") + ")"
}
