// Package munge makes and checks munge credentials. A credential proves, to every
// host that shares the cluster's munge key, which user has made it. The package runs
// the commands munge and unmunge, which every node of a Slurm cluster has.
package munge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// maxCredential bounds a credential, in bytes; that of a digest has some 200.
const maxCredential = 4096

// timeout bounds what munged takes.
const timeout = 5 * time.Second

// Munge speaks to one munged.
type Munge struct {
	// Socket is munged's; empty means munge's own default.
	Socket string
}

// Encode makes a credential that carries payload and shows that the process's
// own user made it.
func (m Munge) Encode(ctx context.Context, payload []byte) (string, error) {
	out, err := m.run(ctx, payload, "munge")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// ErrInvalid is returned for a credential that is forged, expired or replayed;
// any other error means that munge does not work here.
var ErrInvalid = errors.New("invalid credential")

// Maker is who has made a credential, and where.
type Maker struct {
	UID uint32
	// Host is the address that the munged there gives as its own: a loopback address if it knows no
	// other.
	Host netip.Addr
}

// Decode returns who made a credential, and the payload. A
// credential can be decoded once: the second time it is ErrInvalid.
func (m Munge) Decode(ctx context.Context, credential string) (maker Maker, payload []byte, err error) {
	if len(credential) == 0 || len(credential) > maxCredential {
		return Maker{}, nil, fmt.Errorf("%w: %d bytes long", ErrInvalid, len(credential))
	}
	out, err := m.run(ctx, []byte(credential), "unmunge", "--numeric", "--keys=STATUS,UID,ENCODE_HOST,ENCODE_TIME,DECODE_TIME")
	if err != nil {
		return Maker{}, nil, err
	}
	// The fields end with an empty line; after it comes the payload as it is.
	fields, payload, _ := bytes.Cut(out, []byte("\n\n"))
	maker, err = parseFields(string(fields))
	return maker, payload, err
}

// readFields reads lines such as "STATUS: 0" and "ENCODE_HOST: 10.1.2.3", as --numeric makes them.
func readFields(text string) map[string]string {
	values := make(map[string]string)
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		values[key] = strings.TrimSpace(value)
	}
	return values
}

// Munge's error numbers for credentials that its key has made.
const (
	expired  = "15"
	rewound  = "16"
	replayed = "17"
)

// complaint says in words what is wrong with a credential, of which unmunge has printed text:
// unmunge itself says nothing of times.
func complaint(text string) string {
	values := readFields(text)
	made, _ := strconv.ParseInt(values["ENCODE_TIME"], 10, 64)
	now, _ := strconv.ParseInt(values["DECODE_TIME"], 10, 64)
	const clocks = "; the clocks of the two hosts differ too much, or the request was on its way for as long: set the clocks (NTP)"
	switch values["STATUS"] {
	case expired:
		return fmt.Sprintf("it has expired: by this host's clock it was made %d s ago", now-made) + clocks
	case rewound:
		return fmt.Sprintf("it is from the future: by this host's clock it is made in %d s", made-now) + clocks
	case replayed:
		return "it was used before"
	}
	return "munge's error " + values["STATUS"]
}

// parseFields returns who has made a credential by what unmunge has printed.
func parseFields(text string) (maker Maker, err error) {
	values := readFields(text)
	if values["STATUS"] != "0" {
		return Maker{}, fmt.Errorf("%w: status %s", ErrInvalid, values["STATUS"])
	}
	n, err := strconv.ParseUint(values["UID"], 10, 32)
	if err != nil {
		return Maker{}, fmt.Errorf("unmunge: no user id in %q", text)
	}
	host, err := netip.ParseAddr(values["ENCODE_HOST"])
	if err != nil {
		return Maker{}, fmt.Errorf("unmunge: no address of a host in %q", text)
	}
	return Maker{uint32(n), host.Unmap()}, nil
}

func (m Munge) run(ctx context.Context, stdin []byte, name string, args ...string) ([]byte, error) {
	if m.Socket != "" {
		args = append(args, "--socket="+m.Socket)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	says := strings.TrimSpace(stderr.String())
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && name == "unmunge" && exit.ExitCode() >= firstCredError {
		return nil, fmt.Errorf("%w: %s", ErrInvalid, cmp.Or(says, complaint(string(out))))
	}
	if says == "" {
		says = err.Error()
	}
	return nil, fmt.Errorf("%s: %s", name, says)
}

// firstCredError is the first of munge's error numbers, unmunge's exit codes,
// that blame the credential: bad, expired, rewound and replayed credentials.
// See munge(3).
const firstCredError = 8
