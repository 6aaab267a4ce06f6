package prompt

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	due, err := filepath.Abs("due")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		options Options
		want    Settings
	}{
		{Options{Signal: "USR1"}, Settings{Signal: syscall.SIGUSR1, Lead: time.Minute, Cost: time.Minute, Guessed: true}},
		{Options{Signal: "B:sigusr2,300"}, Settings{Signal: syscall.SIGUSR2, Alone: true, Lead: 5 * time.Minute, Cost: 5 * time.Minute, Guessed: true}},
		{Options{Signal: "b:10"}, Settings{Signal: syscall.SIGUSR1, Alone: true, Lead: time.Minute, Cost: time.Minute, Guessed: true}},
		{Options{Signal: "10,5", Cost: "12m", Interval: "1h"}, Settings{Signal: syscall.SIGUSR1, Lead: 12 * time.Minute, Cost: 12 * time.Minute, Interval: time.Hour}},
		{Options{File: "due", Cost: "0", Interval: "1s", MTBF: "1-0"}, Settings{File: due, Lead: time.Minute, Interval: time.Second, MTBF: 24 * time.Hour}},
		{Options{Command: "dmtcp_command --checkpoint"}, Settings{Command: "dmtcp_command --checkpoint", Lead: time.Minute, Cost: time.Minute, Guessed: true}},
	} {
		got, err := test.options.Parse()
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil || !test.options.Given() {
			t.Errorf("%+v: %s, %v", test.options, diff, err)
		}
	}
	for want, options := range map[string]Options{
		"nothing is to prompt":                 {Cost: "1m"},
		"--checkpoint-interval needs":          {Signal: "USR1", Interval: "1m"},
		"--checkpoint-mtbf needs":              {Signal: "USR1", MTBF: "1-0"},
		`"WEEP" is not a signal`:               {Signal: "B:weep"},
		`"A:USR1" is not a signal`:             {Signal: "A:usr1"},
		`"" is not a signal`:                   {Signal: ",9"},
		`"0" is not a signal`:                  {Signal: "0"},
		`"65" is not a signal`:                 {Signal: "65"},
		`"STOP" is not a signal`:               {Signal: "STOP"},
		`"soon" is not a number of seconds`:    {Signal: "USR1,soon"},
		`"-1" is not a number of seconds`:      {Signal: "USR1,-1"},
		"--checkpoint-cost: \"dear\"":          {File: "x", Cost: "dear"},
		"--checkpoint-cost: -1s is not":        {File: "x", Cost: "-1s"},
		"--checkpoint-cost: UNLIMITED is not":  {File: "x", Cost: "UNLIMITED"},
		"--checkpoint-interval: 0 is not":      {File: "x", Cost: "1s", Interval: "0"},
		"--checkpoint-mtbf: 0 is not":          {File: "x", Cost: "1s", Interval: "1s", MTBF: "0"},
		"--checkpoint-signal: \"99999999999\"": {Signal: "99999999999"},
	} {
		if s, err := options.Parse(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %+v, %v; want %s", options, s, err, want)
		}
	}
	if (&Options{}).Given() {
		t.Error("no option is given")
	}
}

func FuzzSignal(f *testing.F) {
	f.Add("B:USR1,60")
	f.Add("SIGRTMIN+1")
	f.Fuzz(func(t *testing.T, text string) {
		var s Settings
		if err := s.parseSignal(text); err == nil && (s.Signal < 1 || s.Signal > 64 || s.Signal == syscall.SIGKILL || s.Lead < 0) {
			t.Errorf("%+v", s)
		}
	})
}
