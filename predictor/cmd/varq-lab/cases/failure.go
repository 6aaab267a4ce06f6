package cases

import (
	"fmt"
	"strings"

	"github.com/varq-project/varq/predictor/trial/study"
)

// Failure is a case that has no outcome.
type Failure struct {
	Case study.Case
	Err  error
}

// Error names the case.
func (f Failure) Error() string {
	return fmt.Sprintf("case %s, seed %d: %v", f.Case.Name, f.Case.Seed, f.Err)
}

// Failures are the cases of a run that have no outcome.
type Failures []Failure

// mostNamed is the largest number of causes that Error names.
const mostNamed = 10

// Error names the cases. It names a cause that several cases share once.
func (f Failures) Error() string {
	var causes []string
	by := map[string]Failures{}
	for _, failure := range f {
		cause := failure.Err.Error()
		if by[cause] == nil {
			causes = append(causes, cause)
		}
		by[cause] = append(by[cause], failure)
	}
	var lines []string
	for i, cause := range causes {
		if i == mostNamed {
			lines = append(lines, fmt.Sprintf("and for %d other reasons", len(causes)-i))
			break
		}
		same := by[cause]
		line := same[0].Error()
		if len(same) > 1 {
			line = fmt.Sprintf("%s; and so %d more, to %s, seed %d", line, len(same)-1, same[len(same)-1].Case.Name, same[len(same)-1].Case.Seed)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the causes.
func (f Failures) Unwrap() []error {
	errs := make([]error, len(f))
	for i := range f {
		errs[i] = f[i].Err
	}
	return errs
}
