package munge

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/varq-project/varq/test/munged"
)

func TestCredential(t *testing.T) {
	m := Munge{Socket: munged.Start(t)}
	ctx := t.Context()
	payload := []byte("one\n\ntwo\x00\xff")
	cred, err := m.Encode(ctx, payload)
	if err != nil {
		t.Fatal(err)
	}
	maker, got, err := m.Decode(ctx, cred)
	if err != nil || int(maker.UID) != os.Getuid() || !maker.Host.IsValid() || string(got) != string(payload) {
		t.Fatalf("%+v, payload %q, %v", maker, got, err)
	}
	for name, bad := range map[string]string{
		"replayed": cred,
		"forged":   cred[:20] + "AAAA" + cred[24:],
		"empty":    "",
		"no MUNGE": "hello",
		"long":     string(make([]byte, maxCredential+1)),
	} {
		if _, _, err := m.Decode(ctx, bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := m.Decode(ctx, cred); err == nil || !strings.HasSuffix(err.Error(), "it was used before") {
		t.Errorf("replayed: %v", err)
	}
	if _, err := (Munge{Socket: "/nowhere"}).Encode(ctx, payload); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("without munged: %v", err)
	}
	if _, _, err := (Munge{Socket: "/nowhere"}).Decode(ctx, cred); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("without munged: %v", err)
	}
}

// TestExpired: what munge has let expire is told as that, and how old it is.
func TestExpired(t *testing.T) {
	m := Munge{Socket: munged.Start(t)}
	made, err := exec.Command("munge", "--socket="+m.Socket, "--ttl=1", "--no-input").Output()
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2100 * time.Millisecond)
	if _, _, err := m.Decode(t.Context(), strings.TrimSpace(string(made))); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "it has expired: by this host's clock it was made ") {
		t.Error(err)
	}
}

// A host whose clock is wrong is told so: unmunge prints no more than numbers.
func TestComplaint(t *testing.T) {
	for text, want := range map[string]string{
		"STATUS:          15\nENCODE_TIME:     1795890332\nDECODE_TIME:     1795890932\nUID:             0\n": "it has expired: by this host's clock it was made 600 s ago; the clocks",
		"STATUS: 16\nENCODE_TIME: 1795890932\nDECODE_TIME: 1795890332\n":                                      "it is from the future: by this host's clock it is made in 600 s; the clocks",
		"STATUS: 8\n": "munge's error 8",
		"":            "munge's error ",
	} {
		if got := complaint(text); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
}
