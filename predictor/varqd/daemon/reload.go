package daemon

import (
	"context"
	"fmt"
	"os"
	"reflect"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// Reload is how a daemon reads the site's policy anew while it runs.
type Reload struct {
	// Signals has a signal each time at which the policy is to be read. It may be nil.
	Signals <-chan os.Signal
	// Read reads the configuration. Its errors name the file and the line.
	Read func() (config.Config, error)
}

// reload reads the policy at each signal, until ctx is done.
func (d *Daemon) reload(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.reloading.Signals:
			d.reloading.policy(d)
		}
	}
}

// policy reads the policy of a daemon. If that fails, the one from before stays, and varqd's health
// says so.
func (r *Reload) policy(d *Daemon) {
	c, err := r.Read()
	if err != nil {
		note := fmt.Sprintf("the policy is not read anew, and the one from before stays: %v", err)
		d.unread.Store(&note)
		d.log.Error("the policy is not read anew, and the one from before stays", "error", err)
		return
	}
	d.unread.Store(nil)
	d.desk.SetPolicy(c.Rules())
	d.log.Info("the policy is read anew", "rules", len(c.Policy))
	if c.Policy = d.config.Policy; !reflect.DeepEqual(c, d.config) {
		d.log.Warn("other sections of the configuration have changed, too: they count once varqd is started again")
	}
}
