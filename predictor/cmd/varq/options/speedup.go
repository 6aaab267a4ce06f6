package options

import (
	"fmt"
	"io"
	"os"

	"github.com/varq-project/varq/predictor/forecast/speedup"
)

// mostTable is the largest file of --speedup=table:FILE, in bytes.
const mostTable = 1 << 20

// ParseSpeedup reads the value of --speedup.
func ParseSpeedup(text string) (speedup.Curve, error) {
	curve, err := speedup.Parse(text, readTable)
	if err != nil {
		return nil, fmt.Errorf("--speedup: %w", err)
	}
	return curve, nil
}

// readTable reads a file of at most mostTable bytes.
func readTable(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostTable+1))
	if err == nil && len(text) > mostTable {
		err = fmt.Errorf("%s is larger than %d bytes", path, mostTable)
	}
	return string(text), err
}
