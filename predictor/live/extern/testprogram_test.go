package extern

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/varq-project/varq/predictor/delay"
	"github.com/varq-project/varq/predictor/forecast"
	"github.com/varq-project/varq/predictor/forecast/fault"
	"github.com/varq-project/varq/predictor/live/extern/forecasterpb"
	"github.com/varq-project/varq/predictor/workload"
)

// TestMain runs the test binary as one of the forecasters below if it has the argument
// forecaster=NAME.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if name, ok := strings.CutPrefix(os.Args[1], "forecaster="); ok {
			programs[strings.ReplaceAll(name, "_", " ")]()
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// command starts the forecaster of a name.
func command(t *testing.T, name string) string {
	t.Helper()
	if programs[name] == nil {
		t.Fatalf("no program %s", name)
	}
	return os.Args[0] + " forecaster=" + strings.ReplaceAll(name, " ", "_")
}

// counter is a good forecaster. After n events it answers that waits are spread evenly
// between 0 and n seconds. It has no answer if n is 0 or the user is called nobody.
type counter struct{ events int }

func (c *counter) Name() string            { return "counter" }
func (c *counter) Submitted(*workload.Job) { c.events++ }
func (c *counter) Started(*workload.Job)   { c.events++ }
func (c *counter) Ended(*workload.Job)     { c.events++ }
func (c *counter) Forecast(q *forecast.Question, a *forecast.Answer) bool {
	for i := range a.Wait {
		a.Wait[i] = min(1, delay.At(i)/float64(c.events))
	}
	a.Sample, a.Class = float64(c.events), fmt.Sprintf("%s until %d", q.User, q.Limit)
	return c.events > 0 && q.User != "nobody"
}

// flooding is a counter that prints without end after it has observed a start.
type flooding struct{ counter }

func (f *flooding) Started(j *workload.Job) {
	f.counter.Started(j)
	go func() {
		for {
			fmt.Println(strings.Repeat("x", 1<<12))
		}
	}()
}

// tally expects as many failures of a node as it has seen, and a tenth for each other event. It
// does not know of others.
type tally struct{ seen map[string]float64 }

func (t *tally) Observe(e fault.Event) {
	if e.Kind == fault.Failure {
		t.seen[e.Node] += .9
	}
	t.seen[e.Node] += .1
}

func (t *tally) Expected(nodes []string, _, span int64) []float64 {
	var expected []float64
	for _, node := range nodes {
		if seen, ok := t.seen[node]; ok {
			expected = append(expected, seen*float64(span)/86400)
		} else {
			expected = append(expected, -1)
		}
	}
	return expected
}

// slow never answers.
type slow struct{}

func (slow) Observe(fault.Event) {}
func (slow) Expected([]string, int64, int64) []float64 {
	time.Sleep(forever)
	return nil
}

// failingNodes is a program that always gives the same answer about nodes.
func failingNodes(expected ...float64) func() {
	return func() { ServeFaults(constantly(expected), "constant 1") }
}

type constantly []float64

func (constantly) Observe(fault.Event)                         {}
func (c constantly) Expected([]string, int64, int64) []float64 { return c }

// faulty is a server with a fault. Forecast, if not nil, answers questions whose account is not
// called good. Observe, if not nil, is called before events are observed.
type faulty struct {
	server
	forecast func(*forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error)
	observe  func()
}

func (f *faulty) Forecast(ctx context.Context, r *forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
	if f.forecast != nil && r.GetQuestions()[0].GetRequest().GetAccount() != "good" {
		return f.forecast(r)
	}
	return f.server.Forecast(ctx, r)
}

func (f *faulty) Observe(ctx context.Context, r *forecasterpb.ObserveRequest) (*forecasterpb.ObserveResponse, error) {
	if f.observe != nil {
		f.observe()
	}
	return f.server.Observe(ctx, r)
}

// answering is a program that answers every question alike, unless the account is called good.
// Its points are seconds and probabilities in turn.
func answering(sample float64, class string, points ...float64) func() {
	a := &forecasterpb.Answer{Sample: sample, Class: class}
	for i, x := range points {
		if i%2 == 0 {
			a.Seconds = append(a.Seconds, x)
		} else {
			a.Probability = append(a.Probability, x)
		}
	}
	return failing(func(r *forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
		response := &forecasterpb.ForecastResponse{}
		for range r.GetQuestions() {
			response.Answers = append(response.Answers, a)
		}
		return response, nil
	})
}

func failing(f func(*forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error)) func() {
	return func() { serveFaulty(&faulty{forecast: f}) }
}

func serveFaulty(f *faulty) {
	f.forecaster, f.version = &counter{}, "faulty 1"
	l := listen()
	s := grpc.NewServer()
	forecasterpb.RegisterForecasterServer(s, f)
	fmt.Printf("1|1|unix|%s|grpc\n", l.Addr())
	s.Serve(l)
}

func listen() net.Listener {
	l, err := net.Listen("unix", filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "s"))
	if err != nil {
		panic(err)
	}
	return l
}

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

func many(n int) []float64 {
	points := make([]float64, 0, 2*n)
	for i := range n {
		points = append(points, float64(i), float64(i)/float64(n))
	}
	return points
}

// forever is longer than any test waits.
const forever = time.Hour

var programs = map[string]func(){
	"good": func() { Serve(&counter{}, "counter 1") },

	// These forecast failures.
	"fails":          func() { ServeFaults(&tally{seen: map[string]float64{}}, "tally 1") },
	"fails nobody":   failingNodes(),
	"fails too few":  failingNodes(1),
	"fails NaN":      failingNodes(0, nan),
	"fails for ever": failingNodes(0, inf),
	"fails wildly":   failingNodes(0, 1e6),
	"hangs on nodes": func() { ServeFaults(slow{}, "tally 1") },

	// These never answer.
	"ends at start":    func() {},
	"crashes at start": func() { panic("no model here") },
	"silent":           func() { time.Sleep(forever) },
	"chatters":         func() { fmt.Println("hello, world\x1b[31m", strings.Repeat("x", 1<<20)); time.Sleep(forever) },
	"version 2":        func() { fmt.Println("1|2|unix|/tmp/s|grpc"); time.Sleep(forever) },
	"net/rpc":          func() { fmt.Printf("1|1|unix|%s|netrpc\n", listen().Addr()); time.Sleep(forever) },
	"on TCP":           func() { fmt.Println("1|1|tcp|127.0.0.1:6825|grpc"); time.Sleep(forever) },
	"elsewhere":        func() { fmt.Println("1|1|unix|/tmp/varq-test.sock|grpc"); time.Sleep(forever) },
	"deaf":             func() { fmt.Printf("1|1|unix|%s|grpc\n", listen().Addr()); time.Sleep(forever) },
	"boasts":           func() { Serve(&counter{}, "the very best\n") },
	"unknown service": func() {
		l := listen()
		fmt.Printf("1|1|unix|%s|grpc\n", l.Addr())
		grpc.NewServer().Serve(l)
	},

	// These answer wrongly.
	"crashes": failing(func(*forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
		panic("index out of range")
	}),
	"exits": failing(func(*forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
		os.Exit(3)
		return nil, nil
	}),
	"hangs": failing(func(*forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
		time.Sleep(forever)
		return nil, nil
	}),
	"refuses": failing(func(*forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
		return nil, fmt.Errorf("not today\x1b[31m\n%s", strings.Repeat("x", 2000))
	}),
	"says nothing": failing(func(*forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
		return &forecasterpb.ForecastResponse{}, nil
	}),
	"huge": failing(func(*forecasterpb.ForecastRequest) (*forecasterpb.ForecastResponse, error) {
		return &forecasterpb.ForecastResponse{Answers: []*forecasterpb.Answer{{Class: strings.Repeat("x", 8<<20)}}}, nil
	}),
	"half a point":    answering(1, "", 0, .1, 5),
	"NaN":             answering(1, "", 0, .1, 5, nan),
	"never":           answering(1, "", inf, 1),
	"before 0":        answering(1, "", -1, .5),
	"back in time":    answering(1, "", 5, .5, 4, .6),
	"falls":           answering(1, "", 5, .5, 6, .4),
	"more than 1":     answering(1, "", 5, 1.5),
	"too many points": answering(1, "", many(1001)...),
	"negative sample": answering(-1, "", 5, .5),
	"endless sample":  answering(inf, "", 5, .5),
	"coloured class":  answering(1, "\x1b[31m", 5, .5),
	"long class":      answering(1, strings.Repeat("x", 101), 5, .5),

	// These learn badly, or print.
	"crashes learning": func() { serveFaulty(&faulty{observe: func() { panic("cannot learn") }}) },
	"hangs learning":   func() { serveFaulty(&faulty{observe: func() { time.Sleep(forever) }}) },
	"floods": func() {
		serveFaulty(&faulty{observe: func() { // once, with the past
			go func() {
				for {
					os.Stdout.WriteString(strings.Repeat("x", 1<<17))
					os.Stderr.WriteString(strings.Repeat("y", 1<<17))
					fmt.Fprintln(os.Stderr, "flood")
				}
			}()
		}})
	},
	"floods as Go does": func() { Serve(&flooding{}, "counter 1") },
	"has children": func() {
		child := exec.Command("sleep", "600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
		Serve(&counter{}, fmt.Sprint(child.Process.Pid))
	},
}
