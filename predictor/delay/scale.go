package delay

// FromScale returns the distribution whose probabilities d has on the grid of another scale, in
// seconds.
func FromScale(scale float64, d *Distribution) Distribution {
	if scale == Scale {
		return *d
	}
	from, next := points(scale), 0
	var to Distribution
	for i := range to {
		for from[next] < grid[i] {
			next++
		}
		to[i] = d[next]
		if from[next] > grid[i] {
			low, high := from[next-1], from[next]
			to[i] = min(to[i], d[next-1]+(d[next]-d[next-1])*(grid[i]-low)/(high-low))
		}
	}
	return to
}
