package command

import (
	"context"
	"strconv"

	"github.com/varq-project/varq/predictor/cmd/varq/web"
)

// forPages returns how the pages of varq web ask varqd, and cancel jobs.
func (l *link) forPages() web.Asks {
	return web.Asks{
		Dial:   func() (web.Varqd, error) { return l.dial() },
		Groups: l.groupsOf,
		Serve:  l.env.Serve,
		Cancel: func(ctx context.Context, job int64) error {
			args := []string{strconv.FormatInt(job, 10)}
			if l.site != "" {
				args = append([]string{"--clusters=" + l.site}, args...)
			}
			return l.env.Scancel(ctx, args...)
		},
	}
}
