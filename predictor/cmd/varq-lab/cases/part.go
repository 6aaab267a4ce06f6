package cases

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/trial/study"
)

// Part is a part of a study's cases: those with the indices First, First+Of, First+2*Of and
// so on.
type Part struct{ First, Of int }

// ParsePart reads "FIRST/OF".
func ParsePart(text string) (Part, error) {
	first, of, _ := strings.Cut(text, "/")
	p := Part{}
	var err, errOf error
	p.First, err = strconv.Atoi(first)
	p.Of, errOf = strconv.Atoi(of)
	if err != nil || errOf != nil || p.First < 0 || p.First >= p.Of {
		return Part{}, fmt.Errorf("%.40q is not FIRST/OF, such as 0/4 to 3/4", text)
	}
	return p, nil
}

// Choose returns the cases that belong to the part.
func (p Part) Choose(cases []study.Case) []study.Case {
	var chosen []study.Case
	for i := p.First; i < len(cases); i += p.Of {
		chosen = append(chosen, cases[i])
	}
	return chosen
}
