package daemon

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/varq-project/varq/predictor/api"
)

// Vitals implements server.Service. A node is spoken of by root, or the site's own user of agents,
// on that node alone.
func (s service) Vitals(ctx context.Context, user string, from []netip.Addr, v api.Vitals) error {
	d := s.daemon
	if user != "root" && user != d.config.Agent.User {
		return api.Fault(api.ErrForbidden, fmt.Sprintf("%s may not speak for a node: only root may, and agent.user in varq.yaml on varqd's host", user))
	}
	if err := d.addresses.Check(ctx, v.Node, from); err != nil {
		return err
	}
	now := d.clock.now()
	if off := v.At - now; off > api.MaxClockOff || off < -api.MaxClockOff {
		return api.Fault(api.ErrInvalid, fmt.Sprintf("at: the clock of %s is %d s off varqd's, and may be %d s: set it by NTP", v.Node, off, api.MaxClockOff))
	}
	return d.vitals.Observe(ctx, v.Node, v.Signals, now)
}
