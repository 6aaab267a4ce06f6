package munge

import (
	"errors"
	"os"
	"testing"

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
	if _, err := (Munge{Socket: "/nowhere"}).Encode(ctx, payload); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("without munged: %v", err)
	}
	if _, _, err := (Munge{Socket: "/nowhere"}).Decode(ctx, cred); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("without munged: %v", err)
	}
}
