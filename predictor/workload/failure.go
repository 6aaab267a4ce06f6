package workload

// Failure is one of a node: from Down on, in Unix seconds, the node could run no jobs until Up,
// which is 0 where that is not known. Whoever ran on it at Down was interrupted.
type Failure struct {
	Node     string
	Down, Up int64
	Cause    string // as the site calls it; "" if unknown
}
