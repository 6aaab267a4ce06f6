package config

import (
	"fmt"
	"math"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// Duration is written as Go writes durations (90s, 1h30m) or as Slurm does
// (1-12:00:00, 12:00:00, 30 for 30 minutes).
type Duration time.Duration

// String returns d as Go writes it.
func (d Duration) String() string { return time.Duration(d).String() }

// Seconds returns d in whole seconds.
func (d Duration) Seconds() int64 { return int64(time.Duration(d) / time.Second) }

// UnmarshalYAML reads either form.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: not a duration", node.Line)
	}
	if parsed, err := time.ParseDuration(node.Value); err == nil {
		*d = Duration(parsed)
		return nil
	}
	seconds, err := slurmtime.ParseDuration(node.Value)
	if err != nil || seconds > math.MaxInt64/int64(time.Second) {
		return fmt.Errorf("line %d: %q is not a duration such as 90s, 1h30m or 1-12:00:00", node.Line, node.Value)
	}
	*d = Duration(seconds) * Duration(time.Second)
	return nil
}
