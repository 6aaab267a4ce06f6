package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"varq-wrapper": main}) }

func TestScripts(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata"}) }

// TestManual finds every option of the usage in varq-wrapper(1).
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../../../packaging/man/varq-wrapper.1")
	if err != nil {
		t.Fatal(err)
	}
	options := regexp.MustCompile(`--[a-z-]+[a-z]`).FindAllString(usage, -1)
	for _, option := range options {
		if !strings.Contains(string(manual), "\n.It Fl Fl "+option[2:]+" ") {
			t.Errorf("varq-wrapper(1) has no %s", option)
		}
	}
	if len(options) < 8 {
		t.Errorf("the usage has the options %q", options)
	}
}
