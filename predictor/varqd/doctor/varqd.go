package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// Varqd examines varqd from outside, by what it says of itself.
func Varqd(ctx context.Context, c *client.Client, now time.Time) []Finding {
	const of = "varqd"
	h, err := c.Health(ctx)
	if err != nil {
		remedy := "'systemctl status varqd' on its host; client.endpoint in varq.yaml says where it is"
		if !errors.Is(err, client.ErrUnreachable) {
			remedy = "the log of varqd tells more"
		}
		return []Finding{failure(of, err, remedy)}
	}
	found := fmt.Sprintf("version %s, with %d past jobs", h.Version, h.History)
	if h.Version != api.Version {
		return append(told(h), warning(of, fmt.Sprintf("%s, and this is %s", found, api.Version), "upgrade both"))
	}
	findings := []Finding{ok(of, "%s", found)}
	if left := time.Unix(h.CertificateExpires, 0).Sub(now); h.CertificateExpires != 0 && len(h.Certificate) == 0 {
		findings = append(findings, ok("certificate", "the one that other sites know this one by is good for %d more days", int(left.Hours()/24)))
	}
	return append(findings, told(h)...)
}

// told are the problems, the notes and the findings about certificate and policy in varqd's health.
func told(h api.Health) []Finding {
	const remedy = "'varqd --check --live' on varqd's host, as varqd's user, tells more"
	var findings []Finding
	for _, problem := range h.Problems {
		if strings.HasPrefix(problem, api.Loading) {
			findings = append(findings, failure("health", problem, "wait a minute"))
			continue
		}
		findings = append(findings, failure("health", problem, remedy))
	}
	for _, note := range h.Notes {
		if strings.HasPrefix(note, api.OnlyWatches) {
			findings = append(findings, warning("health", note, "operators end that by plan.mode: live in varq.yaml"))
			continue
		}
		findings = append(findings, warning("health", note, remedy))
	}
	for _, wrong := range h.Certificate {
		findings = append(findings, warning("certificate", wrong, remedy))
	}
	for _, unknown := range h.Policy {
		findings = append(findings, warning("policy", unknown, remedy))
	}
	return findings
}
