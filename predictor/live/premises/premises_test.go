package premises_test

import (
	"errors"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/live/desk/desktest"
)

// Where Slurm shows nodes only to operators, so does varqd.
func TestPrivateNodes(t *testing.T) {
	s := desktest.NewSite(t)
	for user, private := range map[string]bool{"root": false, "oper": false, "alice": true} {
		for _, data := range []string{"", "nodes", "events"} {
			s.Slurm.PrivateNodes, s.Slurm.PrivateEvents = data == "nodes", data == "events"
			s.Refresh()
			if err := s.Premises.MaySeeNodes(user); errors.Is(err, api.ErrForbidden) != (private && data != "") {
				t.Errorf("%s, PrivateData=%s: %v", user, data, err)
			}
		}
	}
}
