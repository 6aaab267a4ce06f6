package command

import (
	"context"
	"strconv"

	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/web"
)

// pages returns how the pages of varq web ask varqd, and cancel jobs.
func pages(env *Env, link *link.Link) web.Asks {
	return web.Asks{
		Dial:   func() (web.Varqd, error) { return link.Dial() },
		Groups: link.Groups,
		Serve:  env.Serve,
		Cancel: func(ctx context.Context, job int64) error {
			args := []string{strconv.FormatInt(job, 10)}
			if link.Site != "" {
				args = append([]string{"--clusters=" + link.Site}, args...)
			}
			return env.Scancel(ctx, args...)
		},
	}
}
