package jobsize

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The largest numbers read. The product of three of these fits an int64.
const (
	maxCount  = 1 << 24 // nodes, GPUs
	maxMemory = 1 << 30 // MiB
)

// leastNodes reads "4", "2-4" or Slurm's "1k".
func leastNodes(s string) (int64, error) {
	least, _, err := nodeRange(s)
	return least, err
}

func nodeRange(s string) (least, most int64, err error) {
	first, last, ranged := strings.Cut(s, "-")
	if !ranged {
		last = first
	}
	least, err = parseNodes(first)
	most, second := parseNodes(last)
	switch {
	case err != nil || second != nil:
		return 0, 0, fmt.Errorf("%.40q is not a number of nodes", s)
	case most < least:
		return 0, 0, fmt.Errorf("%q: the most is less than the least", s)
	}
	return least, most, nil
}

func parseNodes(s string) (int64, error) {
	digits, times := s, int64(1)
	switch {
	case strings.HasSuffix(s, "k"), strings.HasSuffix(s, "K"):
		digits, times = s[:len(s)-1], 1<<10
	case strings.HasSuffix(s, "m"), strings.HasSuffix(s, "M"):
		digits, times = s[:len(s)-1], 1<<20
	}
	n, err := parseCount(digits, maxCount/times)
	if err != nil {
		return 0, err
	}
	return n * times, nil
}

// None reports whether a list of resources, such as "gpu:0,shard:0" or "0", or an empty one, asks
// for none of any.
func None(list string) bool { return withoutNone(list) == "" }

// withoutNone leaves out of a list of resources, such as "gpu:0,shard:2" or "0", those of which it
// asks for none. Templates of scripts have a 0 where their user wants no GPU.
func withoutNone(list string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(list, ","), func(item string) bool {
		_, count, _ := cutLast(item)
		return count == "0"
	}), ",")
}

// typedCount reads "2", "tesla:2" or a comma-separated list of such counts, and returns
// their sum.
func typedCount(s string) (int64, error) {
	var total int64
	for item := range strings.SplitSeq(s, ",") {
		count := item[strings.LastIndexByte(item, ':')+1:]
		n, err := parseCount(count, maxCount)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number of GPUs such as 2 or a100:2", item)
		}
		if total += n; total > maxCount {
			return 0, fmt.Errorf("%q is too many", s)
		}
	}
	return total, nil
}

// gresGPUs returns the number of GPUs in a list of generic resources, such as "gpu",
// "gpu:2" or "gres/gpu:a100:2". It skips other kinds.
func gresGPUs(s string) (int64, error) {
	var total int64
	for item := range strings.SplitSeq(s, ",") {
		name, rest, detailed := strings.Cut(strings.TrimPrefix(item, "gres/"), ":")
		if name != "gpu" {
			continue
		}
		n := int64(1) // "gpu" and "gpu:a100" are one GPU
		if detailed && !isType(rest) {
			var err error
			n, err = parseCount(rest[strings.LastIndexByte(rest, ':')+1:], maxCount)
			if err != nil {
				return 0, fmt.Errorf("%q is not a number of GPUs such as gpu:2 or gpu:a100:2", item)
			}
		}
		if total += n; total > maxCount {
			return 0, fmt.Errorf("%q is too many", s)
		}
	}
	return total, nil
}

// isType reports whether s is the type of a generic resource, with no count.
func isType(s string) bool {
	return s != "" && (s[0] < '0' || s[0] > '9') && !strings.Contains(s, ":")
}

// parseMemory reads a size in MiB, or with a unit: "4000", "16G", "16GB". A size below one
// MiB counts as one MiB.
func parseMemory(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGTBkmgtb")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > maxMemory<<10 || digits == "" {
		return 0, notMemory(s)
	}
	switch strings.ToUpper(s[len(digits):]) {
	case "K", "KB":
		n = (n + 1<<10 - 1) >> 10
	case "", "M", "MB":
	case "G", "GB":
		n <<= 10
	case "T", "TB":
		n <<= 20
	default:
		return 0, notMemory(s)
	}
	if n > maxMemory {
		return 0, notMemory(s)
	}
	return n, nil
}

func notMemory(s string) error {
	return fmt.Errorf("%q is not a size of memory such as 4000M or 16G", s)
}

// parseGresCount reads a number, or with a unit: "4", "2k", "1G". Units are powers of 1024.
func parseGresCount(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGkmg")
	unit := int64(1)
	switch strings.ToUpper(s[len(digits):]) {
	case "":
	case "K":
		unit = 1 << 10
	case "M":
		unit = 1 << 20
	case "G":
		unit = 1 << 30
	default:
		return 0, fmt.Errorf("%q is not a number", s)
	}
	n, err := parseCount(digits, math.MaxInt32)
	return n * unit, err
}

// parseCount reads a number from 1 to most.
func parseCount(s string, most int64) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, err
	}
	if n < 1 || int64(n) > most {
		return 0, fmt.Errorf("%d is out of range", n)
	}
	return int64(n), nil
}
