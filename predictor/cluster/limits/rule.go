package limits

// Rule is one limit, in words. As an error it says that the limit forbids the request.
type Rule struct {
	Name string // whose limit and which: "partition main MaxTime"
	Says string // the sentence for the user: "partition main allows 2-00:00:00 (MaxTime)"
}

// Error returns what the rule says.
func (r *Rule) Error() string { return r.Says }
