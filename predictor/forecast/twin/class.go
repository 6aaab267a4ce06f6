package twin

// class is the jobs of a partition and QOS, which may have a priority.
type class struct {
	won, lost float64 // how often, fading, its jobs passed others or were passed
}

// overtaken counts that a job of class by started while one of another class waited
// that had come before it.
func (c *class) overtaken(by *class) {
	const fade = 1 - 1./512
	by.won, by.lost = by.won*fade+1, by.lost*fade
	c.won, c.lost = c.won*fade, c.lost*fade+1
}

// rank is the class's place in the order of priorities: 0 for those that pass others
// much more often than others pass them, 1, and 2.
func (c *class) rank() int8 {
	switch share := (c.won + 2) / (c.won + c.lost + 4); {
	case share > 2./3:
		return 0
	case share < 1./3:
		return 2
	}
	return 1
}
