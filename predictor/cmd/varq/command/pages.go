package command

import (
	"context"
	"net"
	"net/http"
	"strconv"

	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/web"
)

// pages returns how the pages of varq web ask varqd, are served, and cancel jobs.
func pages(
	link *link.Link,
	serve func(ctx context.Context, address string, handler func(at net.Addr) http.Handler) error,
	scancel func(ctx context.Context, args ...string) error,
) web.Asks {
	return web.Asks{
		Dial:   func() (web.Varqd, error) { return link.Dial() },
		Groups: link.Groups,
		Serve:  serve,
		Cancel: func(ctx context.Context, job int64) error {
			args := []string{strconv.FormatInt(job, 10)}
			if link.Site != "" {
				args = append([]string{"--clusters=" + link.Site}, args...)
			}
			return scancel(ctx, args...)
		},
	}
}
