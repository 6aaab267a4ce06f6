package keeper

import (
	"errors"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/premises"
)

// Before Slurm has told who is an operator, only root sees what operators may see, and others are
// not told that they may not.
func TestNothingIsKnownYet(t *testing.T) {
	s := newSite(t)
	s.Premises = premises.New(s.Premises.Options)
	s.records.Premises = s.Premises
	for _, user := range []string{"oper", "alice"} {
		_, others := s.records.Reservations(t.Context(), user, api.ReservationsQuery{User: api.Everybody})
		_, report := s.records.Report(t.Context(), user, api.ReportQuery{User: "bob"})
		for what, err := range map[string]error{"nodes": s.Premises.MaySeeNodes(user), "reservations": others, "report": report} {
			if !errors.Is(err, api.ErrUnavailable) || !strings.Contains(err.Error(), "try again in a moment") {
				t.Errorf("%s of %s: %v", what, user, err)
			}
		}
		if _, err := s.records.Reservations(t.Context(), user, api.ReservationsQuery{}); err != nil {
			t.Errorf("her own: %v", err)
		}
	}
	if err := s.Premises.MaySeeNodes("root"); err != nil {
		t.Error(err)
	}
}
