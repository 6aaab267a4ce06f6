package twin

// class is the jobs of one partition and QOS, which may have a priority of their own. It
// counts how often they overtook jobs of other classes.
type class struct {
	won, lost float64 // starts before an older job of another class, and the reverse; fading
}

// overtakenBy counts that a job of class by started before an older one of class c.
func (c *class) overtakenBy(by *class) {
	const fade = 1 - 1./512
	by.won, by.lost = by.won*fade+1, by.lost*fade
	c.won, c.lost = c.won*fade, c.lost*fade+1
}

// rank returns the rank of the class for rollout.Priority: 0 if its jobs overtake others
// much more often than others overtake them, 2 if much less often, and 1 otherwise.
func (c *class) rank() int8 {
	switch share := (c.won + 2) / (c.won + c.lost + 4); {
	case share > 2./3:
		return 0
	case share < 1./3:
		return 2
	}
	return 1
}

// rank returns a class's rank in rollouts. Where Slurm's priorities are known, they tell all, and
// all ranks are the same.
func (t *Twin) rank(c *class) int8 {
	if t.priorities.known() {
		return 0
	}
	return c.rank()
}
