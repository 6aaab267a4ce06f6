package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"strings"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/slurmtime"
	"github.com/varq-project/varq/predictor/varqd/client"
)

// Varqd is what the pages ask varqd. Package client has it.
type Varqd interface {
	Quote(context.Context, api.PlanRequest) (api.PlanAnswer, error)
	Size(context.Context, api.SizeRequest) (api.SizeAnswer, error)
	When(context.Context, api.WhenQuery) (api.When, error)
	Limits(context.Context) (api.Limits, error)
	Reservations(context.Context, api.ReservationsQuery) ([]api.Reservation, error)
	Flows(context.Context, api.FlowsQuery) (api.Flows, error)
	Cancel(context.Context, api.Cancellation) error
	Accept(context.Context, api.Acceptance) (api.Accepted, error)
	Report(context.Context, api.ReportQuery) (api.Report, error)
	Calibration(context.Context, api.CalibrationQuery) (api.Calibration, error)
	Nodes(context.Context) (api.Nodes, error)
	Shadow(context.Context, api.ShadowQuery) (api.Shadow, error)
	Health(context.Context) (api.Health, error)
}

// Asks is how the pages ask and act for the user.
type Asks struct {
	Dial func() (Varqd, error)
	// Groups asks the homes of the groups that reservations are of, as far as they answer, by the
	// group's name.
	Groups func(context.Context, []api.Reservation) map[string]api.GroupState
	// Cancel ends a job of the user's, in Slurm.
	Cancel func(ctx context.Context, job int64) error
	// Serve is Serve, or a stand-in for it.
	Serve func(ctx context.Context, address string, handler func(at net.Addr) http.Handler) error
}

// site has the pages.
type site struct {
	env    *cli.Env
	varqd  Varqd
	groups func(context.Context, []api.Reservation) map[string]api.GroupState
	cancel func(ctx context.Context, job int64) error
	form   string // is in each form that changes something
	known  known
}

//go:embed templates static
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"entry": func(p *page, link, text string) entry { return entry{link, text, p.Here == link} },
	"part":  func(body any) *page { return &page{Body: body} },
	"words": strings.Fields,
}).ParseFS(files, "templates/*.html"))

// entry is an entry of the menu.
type entry struct {
	Link, Text string
	Current    bool
}

// routes returns all pages, whose forms carry the secret form. All of them are in one folder, and
// their links are relative, so that it may be anywhere.
func (s *site) routes(form string) http.Handler {
	s.form = form
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (*page, error){
		"GET /{$}":          s.newJob,
		"GET /waiting":      s.waiting,
		"GET /waiting-job":  s.waitingJob,
		"GET /reservations": s.reservations,
		"GET /reservation":  s.reservation,
		"GET /story":        s.story,
		"GET /honesty":      s.honesty,
		"GET /cluster":      s.cluster,
		"POST /cancel":      s.cancelled,
		"POST /accept":      s.accepted,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if !inWindow(r) {
				http.Error(w, "This page is to be opened in a window of its own.", http.StatusForbidden)
				return
			}
			s.show(w, r, answer)
		})
	}
	// What varq.js asks for.
	for pattern, answer := range map[string]func(*http.Request) (*page, error){
		"GET /answer": s.answerPart,
		"GET /sizes":  s.sizesPart,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, answer) })
	}
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the folder is embedded
	}
	assets := http.FileServerFS(static)
	for _, name := range []string{"varq.css", "varq.js", "icon.svg"} {
		mux.Handle("GET /"+name, assets)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.show(w, r, func(*http.Request) (*page, error) {
			return nil, api.Fault(api.ErrNotFound, "there is no such page")
		})
	})
	return mux
}

// page is what is shown.
type page struct {
	Title string
	Here  string // the link of the menu that is current
	Form  string // the secret of forms
	AsOf  string // when it was made, and in which zone all times are
	// Template shows the page, with what is in Body.
	Template string
	Status   int // of HTTP, 0 for 200
	Body     any
}

// trouble is why there is no answer.
type trouble struct {
	What   string
	Remedy string
}

// show answers a request with a page, or says why there is none.
func (s *site) show(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (*page, error)) {
	p, err := answer(r)
	if err != nil {
		p = &page{Title: "No answer", Template: "trouble", Body: troubleOf(err), Status: cmp.Or(api.Status(err), http.StatusBadGateway)}
	}
	p.Form, p.AsOf = s.form, s.asOf()
	var text bytes.Buffer
	if err := templates.ExecuteTemplate(&text, p.Template, p); err != nil {
		http.Error(w, "The page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("As-Of", p.AsOf) // for varq.js, which puts parts into a page that is older
	w.WriteHeader(cmp.Or(p.Status, http.StatusOK))
	_, _ = w.Write(text.Bytes()) // who has gone needs no answer
}

func (s *site) asOf() string {
	now := s.env.Now()
	return fmt.Sprintf("As of %s; all times are %s.", slurmtime.Format(now, s.env.Zone), s.zone(now))
}

// troubleOf says what an error is, and what to do about it.
func troubleOf(err error) trouble {
	t := trouble{What: cli.Printable(err.Error())}
	if errors.Is(err, client.ErrUnreachable) {
		t.Remedy = "Is varqd running? 'varq doctor' on the login node tells. Load this page again when it answers."
	}
	return t
}
