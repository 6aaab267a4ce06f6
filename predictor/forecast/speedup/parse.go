package speedup

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The largest parameters read: no program comes near them, and no curve loses
// its properties to rounding before.
const (
	maxParallelism = 1e9
	maxVariance    = 1e6
)

// Parse reads "amdahl:SERIAL", such as amdahl:0.05, "downey:A,SIGMA", such as
// downey:64,1.5, and "table:FILE", a file that ParseTable reads. Read returns the
// content of a file; without it there are no tables. The error says which
// parameter makes no sense.
func Parse(text string, read func(file string) (string, error)) (Curve, error) {
	name, parameters, _ := strings.Cut(text, ":")
	switch name {
	case "amdahl":
		serial, err := parseNumber(parameters, 0, 1)
		if err != nil {
			return nil, fmt.Errorf("amdahl:SERIAL: %w", err)
		}
		return Amdahl{serial}, nil
	case "downey":
		average, variance, _ := strings.Cut(parameters, ",")
		a, err := parseNumber(average, 1, maxParallelism)
		if err != nil {
			return nil, fmt.Errorf("downey:A,SIGMA: A: %w", err)
		}
		sigma, err := parseNumber(variance, 0, maxVariance)
		if err != nil {
			return nil, fmt.Errorf("downey:A,SIGMA: SIGMA: %w", err)
		}
		return Downey{a, sigma}, nil
	case "table":
		table, err := readTable(parameters, read)
		if err != nil {
			return nil, fmt.Errorf("table:FILE: %w", err)
		}
		return table, nil
	}
	return nil, fmt.Errorf("%.40q is not a speedup (try amdahl:0.05, downey:64,1.5 or table:FILE)", text)
}

func readTable(file string, read func(file string) (string, error)) (*Table, error) {
	if read == nil {
		return nil, errors.New("no files are read here: give amdahl or downey")
	}
	if file == "" {
		return nil, errors.New("which file?")
	}
	text, err := read(file)
	if err != nil {
		return nil, err
	}
	table, err := ParseTable(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	table.file = file
	return table, nil
}

func parseNumber(text string, least, most float64) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(least <= x && x <= most) {
		return 0, fmt.Errorf("%.40q is not a number from %g to %g", text, least, most)
	}
	return x, nil
}
