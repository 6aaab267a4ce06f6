package score

// Verdict says in words whether what was promised came true: how the share of promises kept, or of
// waits within a quantile, compares with the probability that was said. The zero Verdict is none.
type Verdict string

// The verdicts.
const (
	AsPromised       Verdict = "as promised"
	MoreThanPromised Verdict = "more than promised"
	LessThanPromised Verdict = "less than promised"
	TooLittle        Verdict = "too little to tell"
)

// vague is the width of an interval from which on it tells nothing by having what was promised.
const vague = .3

// Judge compares the interval of a share, from low to high, with what was promised of it. Outside
// of the interval that is off by more than chance, however wide the interval is.
func Judge(low, high, promised float64) Verdict {
	switch {
	case low > promised:
		return MoreThanPromised
	case high < promised:
		return LessThanPromised
	case high-low >= vague:
		return TooLittle
	default:
		return AsPromised
	}
}
