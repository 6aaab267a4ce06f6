package link

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/client"
	"github.com/varq-project/varq/predictor/varqd/config"
)

// Own reports whether the user has to forecast for herself, and can: nothing says where a varqd is,
// and there is none where it usually is.
func (l *Link) Own() bool {
	if l.Alone == nil || l.Endpoint != "" || l.Site != "" || l.Getenv("VARQ_ENDPOINT") != "" {
		return false
	}
	if _, err := os.Stat(config.Path(l.Getenv)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := os.Stat(strings.TrimPrefix(config.Default().Client.Endpoint, "unix://"))
	return errors.Is(err, fs.ErrNotExist)
}

// Forecaster is who answers questions about waits.
type Forecaster struct {
	*client.Client
	// Own says that it is not a varqd but a process of the user's own.
	Own bool
}

// Alone is the user, where there is no varqd.
type Alone interface {
	// Dial returns a client of a process of her own that forecasts, which it starts if need be. It
	// calls progress with what that does until it can answer.
	Dial(ctx context.Context, progress func(doing string)) (*client.Client, error)
	// Shadow tells what would have been promised about her jobs.
	Shadow(ctx context.Context, q api.ShadowQuery, progress func(doing string)) (api.Shadow, error)
}

// DialForecaster returns a client of the varqd or, where there is none, of a process of the user's
// own. Until that can answer, env's Stderr tells what it does.
func (l *Link) DialForecaster(ctx context.Context, env *cli.Env) (Forecaster, error) {
	if !l.Own() {
		varqd, err := l.Dial()
		return Forecaster{Client: varqd}, err
	}
	l.forecasts = true
	own, err := l.Alone.Dial(ctx, progress(env))
	return Forecaster{Client: own, Own: true}, err
}

// ShadowOfOwn tells what would have been promised about the user's own jobs. Until it can, env's
// Stderr tells what is being done.
func (l *Link) ShadowOfOwn(ctx context.Context, env *cli.Env, q api.ShadowQuery) (api.Shadow, error) {
	if l.Alone == nil {
		return api.Shadow{}, errors.New("only varq-alone tells this, which is varq in one file for clusters without varqd: run 'varq-alone shadow --mine'")
	}
	return l.Alone.Shadow(ctx, q, progress(env))
}

func progress(env *cli.Env) func(string) {
	return func(doing string) { fmt.Fprintf(env.Stderr, "varq: your own forecaster %s\n", doing) }
}

// Name names it in a sentence.
func (f *Forecaster) Name() string {
	if f.Own {
		return "your own forecaster"
	}
	return "varqd"
}

// Caveat tells on env's Stderr what an answer of the user's own forecaster is worth, which rests on
// the queue as of a time, unless that is 0. It tells nothing of one of varqd's.
func (f *Forecaster) Caveat(ctx context.Context, env *cli.Env, asOf int64) error {
	if !f.Own {
		return nil
	}
	health, err := f.Health(ctx)
	if err != nil {
		return err
	}
	queue := ""
	if asOf != 0 {
		queue = " and the queue as of " + env.Moment(asOf)
	}
	fmt.Fprintf(env.Stderr, "varq: a forecast of your own, from %s past jobs%s; no varqd is here, and nothing is promised\n", cli.Thousands(health.History), queue)
	for _, note := range health.Notes {
		fmt.Fprintf(env.Stderr, "varq: %s\n", note)
	}
	return nil
}
