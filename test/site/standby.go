package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// StandBy starts a second varqd, which stands by for the first, and waits until it does.
func (s *Site) StandBy(ctx context.Context) error {
	before, err := os.Stat(s.log)
	if err != nil {
		return err
	}
	if s.standby, err = s.launch(filepath.Join(s.programs.sbin, "varqd"), "--standby"); err != nil {
		return err
	}
	standsBy := func() bool {
		text, err := os.ReadFile(s.log)
		return err == nil && strings.Contains(string(text[before.Size():]), "stands by")
	}
	if !eventually(ctx, func() bool { return standsBy() || s.standby.ended() }) || s.standby.ended() {
		return fmt.Errorf("no second varqd stands by:\n%s", s.VarqdLog())
	}
	return nil
}

// AwaitTakeover waits until the varqd that stood by is well. From then on it is the site's varqd.
func (s *Site) AwaitTakeover(ctx context.Context) error {
	s.varqd, s.standby = s.standby, nil
	return s.awaitVarqd(ctx)
}
