// Package web is the command that shows varqd's answers as pages in the user's browser. It serves
// the pages on localhost, for this user alone. It asks varqd the same questions as the other
// commands do, as the same user.
package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// Bounds of the server.
const (
	maxHeader   = 16 << 10 // bytes of a request's header, and so of its URL
	headerTime  = 10 * time.Second
	requestTime = 20 * time.Second
	answerTime  = time.Minute // varqd may take 20 s to accept
	idleTime    = 2 * time.Minute
	endTime     = 5 * time.Second // for the requests that are answered when the command is to end
)

// webFlags has the options of web.
type webFlags struct {
	address, basePath string
	port              uint16
}

// New returns the command web.
func New(env *cli.Env, asks Asks) *cobra.Command {
	f := &webFlags{}
	cmd := &cobra.Command{
		Use:   "web [options]",
		Short: "Show quotes, waiting jobs, reservations and how forecasts came true in a browser",
		Long: `Web serves pages for your browser until you press Ctrl-C: when a new job would run
and what that costs, drawn as you change it; when your jobs that wait start and end;
your reservations, and what becomes of them; how often forecasts and promises came
true; and for operators the cluster.

It listens on this host only, and prints the address to open. That lets in one
browser, once, which acts as you then: keep it to yourself. When a browser has come
in, that is told, with the address for another one. If your browser is on another
computer, run the ssh command there that is printed too.`,
		Example: `  varq web
  varq web --port=8765
  varq web --address=node7 --port=8765 --base-path=/node/node7/8765`,
		Args: cli.NoArguments,
	}
	flags := cmd.Flags()
	flags.Uint16Var(&f.port, "port", 0, "listen on this `port` (default any that is free)")
	flags.StringVar(&f.address, "address", "localhost", "listen on this `host`, a name or address of this computer's, and answer only who asks for it or for localhost")
	flags.StringVar(&f.basePath, "base-path", "", "a proxy asks for all pages below this `path`, as Open OnDemand does: /node/HOST/PORT")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.check(); err != nil {
			return cli.Usage(cmd, err)
		}
		varqd, err := asks.Dial()
		if err != nil {
			return err
		}
		token := cmp.Or(env.Getenv(tokenVariable), rand.Text())
		if !hardToken.MatchString(token) {
			return fmt.Errorf("%s: a token has 20 to 100 letters and digits, chosen at random; leave it out to have one made up", tokenVariable)
		}
		site := &site{env: env, varqd: varqd, groups: asks.Groups, cancel: asks.Cancel}
		return asks.Serve(cmd.Context(), net.JoinHostPort(f.address, strconv.Itoa(int(f.port))), func(at net.Addr) http.Handler {
			f.announce(env, at, token)
			entry := &door{token: token, opened: func(next string) { f.announceNext(env, at, next) }}
			return newGuard(site.routes, entry, f.basePath, f.address, at.String())
		})
	}
	return cmd
}

// tokenVariable is the variable of the environment that may have the token. Unlike an argument it
// is the user's alone to see.
const tokenVariable = "VARQ_WEB_TOKEN"

// hardToken is what it may be: too long to guess, if it is random.
var hardToken = regexp.MustCompile(`^[A-Za-z0-9]{20,100}$`)

// plainPath is what --base-path may be.
var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func (f *webFlags) check() error {
	if f.basePath != "" && !plainPath.MatchString(f.basePath) {
		return fmt.Errorf("--base-path: %.80q is not a path such as /node/HOST/PORT", f.basePath)
	}
	return nil
}

// announce prints where the pages are.
func (f *webFlags) announce(env *cli.Env, at net.Addr, token string) {
	page := f.page(at, token)
	fmt.Fprintf(env.Stdout, "varq: open %s\n", page)
	if f.basePath == "" {
		login, err := os.Hostname()
		if err != nil {
			login = "HOST"
		}
		fmt.Fprintf(env.Stdout, "If your browser is on another computer, first run there:\n  ssh -N -L %s:%s %s@%s\n",
			page.Port(), page.Host, cmp.Or(env.Getenv("LOGNAME"), env.Getenv("USER"), "USER"), login)
	}
	fmt.Fprintln(env.Stdout, "Ctrl-C ends it. The address lets in one browser, once, which acts as you then: keep it to yourself.")
}

// announceNext prints that a browser has come in, and where another one can.
func (f *webFlags) announceNext(env *cli.Env, at net.Addr, token string) {
	fmt.Fprintf(env.Stdout, "varq: a browser has come in; if it is not yours, press Ctrl-C. For another one: %s\n", f.page(at, token))
}

// page returns the address to open: with the number that is listened on, and not a name. A name
// such as localhost has numbers of IPv6 too, on which any other user can listen at the same port,
// and would be sent the token by browsers that try these first.
func (f *webFlags) page(at net.Addr, token string) *url.URL {
	host, port, _ := net.SplitHostPort(at.String())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = f.address
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: f.basePath + "/", RawQuery: url.Values{tokenParam: {token}}.Encode()}
}

// Serve listens on an address, HOST:PORT, where port 0 is any that is free, and answers requests by
// the handler for where it listens, until ctx ends. It still answers those that have come by then.
func Serve(ctx context.Context, address string, handler func(at net.Addr) http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--address, --port: %w", err)
	}
	server := &http.Server{
		Handler: handler(listener.Addr()), MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
	}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		ended <- server.Shutdown(late)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := <-ended; err != nil {
		return server.Close()
	}
	return nil
}
