package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// offerNames says for each kind of offer how it differs from the request.
var offerNames = map[string]string{
	api.OfferProb:  "The best probability for this deadline",
	api.OfferFree:  "The same, with work that starts as soon as the job does",
	api.OfferLater: "The earliest deadline for this probability",
	api.OfferNodes: "A smaller job",
	api.OfferTime:  "A shorter job",
	api.OfferCost:  "The same, with a higher --max-cost",
}

// showRefusal shows the reason of a refusal, and for each offer the options to paste after
// sbatch. options are those of the request.
func (e *Env) showRefusal(asked *api.PlanRequest, r *api.Refusal, options []string) error {
	var s strings.Builder
	fmt.Fprintf(&s, "Cannot be promised: %s.\n", strings.TrimSuffix(slurmtime.InZone(r.Reason, e.Zone), "."))
	if r.Limit != "" {
		fmt.Fprintf(&s, "The limit that binds: %s.\n", r.Limit)
	}
	if len(r.Offers) == 0 && r.Rule == "" {
		s.WriteString("There is nothing like it that can be promised either.\n")
	}
	others := r.Offers
	if asked.Finishes() {
		s.WriteString(e.ends(asked, r.Offers, options))
		others = nil
	}
	for i := range others {
		o := &others[i]
		fmt.Fprintf(&s, "\n%s, for at most %s node-hours more:\n\n  sbatch %s job.sh\n",
			cmp.Or(offerNames[o.Kind], "Another offer"), api.HoursUp(o.Worst.NodeSeconds), strings.Join(override(options, o.Options(asked, e.Zone)), " "))
	}
	_, err := io.WriteString(e.Stdout, s.String())
	return err
}

// override returns options with the offered ones. An offered option replaces one of the same
// name, or is appended.
func override(options, offered []string) []string {
	changed := slices.Clone(options)
	for _, option := range offered {
		name, _, _ := strings.Cut(option, "=")
		at := slices.IndexFunc(changed, func(o string) bool { return o == name || strings.HasPrefix(o, name+"=") })
		if at < 0 {
			changed = append(changed, option)
		} else {
			changed[at] = option
		}
	}
	return changed
}
