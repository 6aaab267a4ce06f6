package elastic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// nodeRange is the numbers of nodes least, least+step, ... that are at most most.
type nodeRange struct{ least, most, step int32 }

// ParseNodes reads the numbers of nodes that sbatch --nodes takes: 2-32, 2,4,8 or 1-15:4, which is
// 1, 5, 9 and 13, and lists of such. It returns each once, in order. More than MaxSizes are thinned
// out to at most that many, in even ratios: the least, the most, and all small ones stay.
func ParseNodes(text string) ([]int32, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("there are no numbers of nodes (try 2-32 or 2,4,8)")
	}
	const maxRanges = 1000
	if strings.Count(text, ",") >= maxRanges {
		return nil, fmt.Errorf("%.40q... is a list of more than %d", text, maxRanges)
	}
	var ranges []nodeRange
	for item := range strings.SplitSeq(text, ",") {
		r, err := parseRange(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
	}
	return thin(ranges), nil
}

func parseRange(text string) (nodeRange, error) {
	var none nodeRange
	span, step, stepped := strings.Cut(text, ":")
	least, most, ranged := strings.Cut(span, "-")
	first, err := parseNodes(least)
	if err != nil {
		return none, err
	}
	r := nodeRange{first, first, 1}
	if ranged {
		if r.most, err = parseNodes(most); err != nil {
			return none, err
		}
		if r.most < r.least {
			return none, fmt.Errorf("%.40q: the most is less than the least", text)
		}
	}
	if stepped {
		if !ranged {
			return none, fmt.Errorf("%.40q has a step, but is not a range (try 1-15:4; alternatives NODES:TIME are sizes)", text)
		}
		if r.step, err = parseNodes(step); err != nil {
			return none, fmt.Errorf("%.40q: the step: %w", text, err)
		}
	}
	r.most -= (r.most - r.least) % r.step
	return r, nil
}

// thin returns the numbers of the ranges, or if they have more than MaxSizes the ones nearest to a
// geometric sequence of that length.
func thin(ranges []nodeRange) []int32 {
	count := 0
	least, most := ranges[0].least, ranges[0].most
	for _, r := range ranges {
		count += int((r.most-r.least)/r.step) + 1
		least, most = min(least, r.least), max(most, r.most)
	}
	var nodes []int32
	if count <= MaxSizes {
		for _, r := range ranges {
			for n := r.least; n <= r.most; n += r.step {
				nodes = append(nodes, n)
			}
		}
	} else {
		ratio := float64(most) / float64(least)
		for i := range MaxSizes {
			target := float64(least) * math.Pow(ratio, float64(i)/(MaxSizes-1))
			nodes = append(nodes, nearest(ranges, int32(math.Round(target))))
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// nearest returns the number of the ranges that is nearest to n, the smaller of two.
func nearest(ranges []nodeRange, n int32) int32 {
	var best int32
	distance := int32(math.MaxInt32)
	for _, r := range ranges {
		below := min(max(n, r.least), r.most)
		below -= (below - r.least) % r.step
		for _, candidate := range []int32{below, min(below+r.step, r.most)} {
			d := max(candidate-n, n-candidate)
			if d < distance || d == distance && candidate < best {
				best, distance = candidate, d
			}
		}
	}
	return best
}
