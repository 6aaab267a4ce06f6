package slurm

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/cluster/limits"
	"github.com/varq-project/varq/predictor/workload"
)

// ParseTRES reads Slurm's list of trackable resources, such as
// "cpu=4,mem=4000M,node=1,gres/gpu=2,billing=4". Memory is in MiB. A resource without a
// finite count is left out. The result of an empty list is nil.
func ParseTRES(list string) (limits.TRES, error) {
	if list == "" {
		return nil, nil
	}
	tres := make(limits.TRES)
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("TRES %q: want NAME=COUNT", item)
		}
		count, finite, err := parseCount(value, name == "mem")
		if err != nil {
			return nil, fmt.Errorf("TRES %q: %w", item, err)
		}
		if finite {
			tres[name] = count
		}
	}
	return tres, nil
}

// unitExponents are the suffixes of Slurm's counts, as powers of 1024.
const unitExponents = "KMGTPE"

// parseCount reads "4", "4000M" or "3.5G". Without a suffix a count of memory
// is in MiB; with one it is scaled to MiB, any other count to units.
func parseCount(s string, memory bool) (count int64, finite bool, err error) {
	if s == "N/A" || s == "N" || s == "" || s == "-1" || s == "-2" || strings.EqualFold(s, "UNLIMITED") {
		return 0, false, nil
	}
	number, exponent := s, 0
	if memory {
		exponent = 2
	}
	if i := strings.IndexByte(unitExponents, s[len(s)-1]); i >= 0 {
		number, exponent = s[:len(s)-1], i+1
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(value) || value < 0 {
		return 0, false, fmt.Errorf("bad count %q", s)
	}
	if memory {
		exponent -= 2
	}
	value = math.Ceil(value * math.Pow(1024, float64(exponent)))
	if value >= math.MaxInt64 {
		return 0, false, fmt.Errorf("count %q is too large", s)
	}
	return int64(value), true, nil
}

// SizeOf returns the size of a job or node with these resources.
func SizeOf(tres limits.TRES) workload.Size {
	return workload.Size{
		Nodes:  clamp32(tres["node"]),
		CPUs:   clamp32(tres["cpu"]),
		GPUs:   clamp32(gpus(tres)),
		Memory: max(0, tres["mem"]),
	}
}

// gpus returns the number of GPUs of all types. Depending on the site's configuration,
// Slurm lists their sum as "gres/gpu", or only the types ("gres/gpu:a100").
func gpus(tres limits.TRES) int64 {
	if n, ok := tres["gres/gpu"]; ok {
		return n
	}
	var n int64
	for name, count := range tres {
		if strings.HasPrefix(name, "gres/gpu:") {
			n += count
		}
	}
	return n
}

func clamp32(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }

// RequestedSize returns the size that a job requested. The number of nodes is that of the
// allocation or, if there is none, the requested minimum. The other resources are the
// requested ones or, if the request is not known, the allocated ones.
func RequestedSize(requested, allocated limits.TRES) workload.Size {
	size, given := SizeOf(requested), SizeOf(allocated)
	if given.Nodes > 0 {
		size.Nodes = given.Nodes
	}
	if size.CPUs == 0 {
		size.CPUs = given.CPUs
	}
	if size.GPUs == 0 {
		size.GPUs = given.GPUs
	}
	if size.Memory == 0 {
		size.Memory = given.Memory
	}
	return size
}

// DropInventedTimes sets to 0 the times in accounting that Slurm makes up. For a job that has not
// ended, Slurm reports the time of the query as the end, and 24.11 reports it as the start of one
// that waits. For a job that was cancelled without an allocation, it reports the time of the
// cancellation as the start.
func DropInventedTimes(job *workload.Job, allocated limits.TRES) {
	if !job.State.Finished() {
		job.End = 0
	}
	if len(allocated) == 0 && job.State != workload.Running {
		job.Start = 0
	}
}

// ParseWeights reads a partition's TRESBillingWeights, such as
// "CPU=1.0,Mem=0.25G,GRES/gpu=2.0". It returns the billing units for one unit of each TRES,
// by its name in lower case. The unit of memory is MiB. The result of an empty list is nil.
func ParseWeights(list string) (map[string]float64, error) {
	if list == "" || list == "(null)" {
		return nil, nil
	}
	weights := make(map[string]float64)
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		name = strings.ToLower(name)
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("billing weight %q: want NAME=WEIGHT", item)
		}
		number, exponent := value, 0
		if i := strings.IndexByte(unitExponents, value[len(value)-1]); i >= 0 {
			number, exponent = value[:len(value)-1], i+1
			if name == "mem" {
				exponent -= 2
			}
		}
		weight, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(weight) || math.IsInf(weight, 0) {
			return nil, fmt.Errorf("billing weight %q: bad number", item)
		}
		weights[name] = weight / math.Pow(1024, float64(exponent))
	}
	return weights, nil
}
