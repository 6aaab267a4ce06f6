package limits

// Rule is one limit, or what cannot be forecast of a request, in words. As an error it says that
// the request is refused for that.
type Rule struct {
	Name string // whose limit and which: "partition main MaxTime"
	Says string // the sentence for the user: "partition main allows 2-00:00:00 (MaxTime)"
}

// Error returns what the rule says.
func (r *Rule) Error() string { return r.Says }
