package extern

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestLastWords(t *testing.T) {
	for text, want := range map[string]string{
		"":         "",
		"cut":      "cut",
		"one\ntwo": "one",
		"Traceback:\n  File x\nValueError: 7\n\n":                          "ValueError: 7",
		"ready\npanic: lost\n\ngoroutine 1 [running]:\n\tmain.go:3 +0x2\n": "panic: lost",
		"\x1b[31mred\x1b[0m\xff\n":                                         "[31mred [0m?",
		strings.Repeat("x", 5000) + "\n":                                   strings.Repeat("x", maxWord),
	} {
		w := &lastWords{log: slog.New(slog.DiscardHandler)}
		for i := range text { // in pieces
			fmt.Fprint(w, text[i:i+1])
		}
		if w.String() != want {
			t.Errorf("%q: %q, want %q", text, w, want)
		}
		whole := &lastWords{log: slog.New(slog.DiscardHandler)}
		if n, err := whole.Write([]byte(text)); n != len(text) || err != nil || whole.String() != want {
			t.Errorf("%q at once: %q, want %q", text, whole, want)
		}
	}
}

func TestLastWordsAreLoggedForDebugging(t *testing.T) {
	var out strings.Builder
	w := &lastWords{log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	fmt.Fprint(w, "loaded\nmore")
	if !strings.Contains(out.String(), "line=loaded") || strings.Contains(out.String(), "more") {
		t.Errorf("log: %s", &out)
	}
}
