package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
	"github.com/varq-project/varq/test/clitest"
	"github.com/varq-project/varq/test/golden"
)

// expect compares got with a file in testdata.
func expect(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	want := golden.Want(t, path, got)
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwhich is not %s; if it should be, run the test with -update", got, path)
	}
}

// TestGoldenReports simulates the log with every policy, backfilling and kind of
// reservations. It compares the reports, as text and as JSON, with files.
func TestGoldenReports(t *testing.T) {
	log := "--trace=" + clitest.Log()
	for _, policy := range policies {
		for _, backfill := range backfills {
			for kind, reservations := range map[string]string{"none": "none", "hard": "hard=20%", "varq": "varq=20%,prob=.75,max-cost=none,forecaster=qbets"} {
				name := fmt.Sprintf("%s-%v-%s.txt", policy.Name, backfill, kind)
				args := []string{log, "--policy=" + policy.Name, "--backfill=" + backfill.String(), "--reservations=" + reservations}
				report := clitest.Run(t, New, args...)
				expect(t, name, append(report, brief(t, clitest.Run(t, New, append(args, "--json")...))...))
			}
		}
	}
}

// brief removes the long lists of numbers from JSON, and the digits that differ between
// processors.
func brief(t *testing.T, text []byte) []byte {
	t.Helper()
	var answer any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	var cut func(any)
	cut = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				cut(item)
			}
		case map[string]any:
			for key, item := range v {
				switch item := item.(type) {
				case float64:
					v[key] = math.Round(item*1e6) / 1e6
				case []any:
					if key != "scenarios" {
						v[key] = fmt.Sprintf("%d numbers", len(item))
					}
				}
				cut(v[key])
			}
		}
	}
	cut(answer)
	var b bytes.Buffer
	if err := cli.WriteJSON(&b, answer); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldenComparison(t *testing.T) {
	dir := t.TempDir()
	args := []string{"compare", "--trace=" + clitest.Log(),
		"--reservations=hard=10%", "--reservations=varq=10%,prob=.75", "--reservations=varq=20%,prob=.75", "--plot=" + dir}
	expect(t, "compare.txt", clitest.Run(t, New, args...))
	expect(t, "compare.json", brief(t, clitest.Run(t, New, append(args, "--json")...)))

	page, err := os.ReadFile(filepath.Join(dir, comparePage))
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"600 jobs of log.swf on 64 processors", "<svg", "varq=20%,prob=.75", "seed 1"} {
		if !strings.Contains(string(page), says) {
			t.Errorf("the page does not say %q", says)
		}
	}
	for _, from := range []string{"src=", "href=", "<script", "<?xml", "ZgotmplZ"} {
		if strings.Contains(string(page), from) {
			t.Errorf("the page has %q in it", from)
		}
	}
}

// TestSameSeed: the same seed gives the same schedule, and another seed another one.
func TestSameSeed(t *testing.T) {
	dir := t.TempDir()
	schedule := func(seed string) []byte {
		path := filepath.Join(dir, "schedule.csv")
		clitest.Run(t, New, "--model=downey", "--jobs=300", "--reservations=hard=10%", "--seed="+seed, "--schedule="+path)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := schedule("1")
	if !bytes.Equal(first, schedule("1")) {
		t.Error("the same seed gives another schedule")
	}
	if bytes.Equal(first, schedule("2")) {
		t.Error("another seed gives the same schedule")
	}
}

func TestWrap(t *testing.T) {
	text := strings.Repeat("longer ", 11) + "5.0 % longer"
	want := strings.Repeat("longer ", 10) + "longer\n5.0 % longer"
	if got := wrap(text); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestInterrupted: an interrupted simulation leaves no files.
func TestInterrupted(t *testing.T) {
	var stdout, stderr bytes.Buffer
	env := cli.Env{Stdout: &stdout, Stderr: &stderr, Elapsed: func() time.Duration { return clitest.Elapsed }}
	f := jobsFlags{model: modelDowney, procs: 8, jobs: 100, load: .5}
	s := &simulation{jobs: f.fromModel()}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.run(ctx, &env, []*trial{{}, {}}, filepath.Join(dir, "schedule.csv"))
	if !errors.Is(err, cli.ErrInterrupted) {
		t.Errorf("an interrupted simulation ends in %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// TestManual finds every column in varq(1).
func TestManual(t *testing.T) {
	clitest.Explained(t, table.Names(othersColumns()[1:]), table.Names(reserversColumns()[1:]))
}
