package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/guard"
	"github.com/varq-project/varq/predictor/varqd/peers"
	"github.com/varq-project/varq/predictor/varqd/sitecert"
)

// AsRoot warns that root examines what varqd's own user will find.
var AsRoot = warning("user", "this is root, and varqd runs as varq, who has other rights", "runuser -u varq -- varqd --check --live")

// Files examines what varqd's configuration names: files, programs and folders, as the present
// user finds them.
func Files(c *config.Config) []Finding {
	owners := owners(c)
	findings := []Finding{token("", c.Slurmrestd, owners)}
	for i := range c.Sites {
		if s := &c.Sites[i]; s.HasNoVarqd() {
			found := token(fmt.Sprintf("sites[%d].", i), *s.Slurmrestd, owners)
			if found.Verdict == Failure { // varqd works, without that site
				found.Verdict = Warning
			}
			findings = append(findings, found)
		}
	}
	for _, p := range programs(c) {
		findings = append(findings, program(p.of, p.command, owners))
	}
	findings = append(findings, certificate(c, time.Now())...)
	findings = append(findings, mayConnect(c, peers.LookUp)...)
	socket := folder("server.socket", c.Server.Socket)
	ledger := folder("ledger.path", c.Ledger.Path)
	history := folder("history.path", c.History.Path)
	if history.Verdict == Failure { // varqd keeps the history in memory
		history.Verdict = Warning
	}
	return append(findings, socket, ledger, history)
}

// newToken returns the command that makes a token for a user of Slurm, by default varqd's.
func newToken(user string) string {
	return "scontrol token username=" + cmp.Or(user, "varq") + " lifespan=SECONDS"
}

// token examines where the token comes from. key is what stands before the section's name.
func token(key string, c config.Slurmrestd, owners []uint32) Finding {
	switch {
	case c.TokenFile != "":
		of := key + "slurmrestd.token_file"
		f, err := os.Open(c.TokenFile)
		if err != nil {
			return failure(of, err, "put a token there that varqd's user may read: "+newToken(c.User))
		}
		f.Close()
		var open *guard.Error
		if errors.As(guard.Secret(c.TokenFile), &open) {
			return failure(of, open.Found+", and who reads it acts in Slurm as varqd does", open.Remedy)
		}
		return ok(of, "%s", c.TokenFile)
	case strings.TrimSpace(c.TokenCommand) != "":
		return program(key+"slurmrestd.token_command", c.TokenCommand, owners)
	}
	return ok(key+"slurmrestd.url", "%s, without a token", c.URL)
}

// certificate examines the files by which other sites know this one.
func certificate(c *config.Config, now time.Time) []Finding {
	t := &c.Server.TLS
	if !t.Given() {
		var findings []Finding
		for i := range c.Sites {
			if _, byTLS := c.Sites[i].ByTLS(); byTLS {
				findings = append(findings, warning(fmt.Sprintf("sites[%d].endpoint", i), c.Sites[i].Endpoint+" cannot be reached without a certificate", "set server.tls, see varq.yaml(5)"))
			}
		}
		return findings
	}
	i, err := sitecert.Open(sitecert.Files{Certificate: t.Certificate, Key: t.Key, CA: t.CA}, time.Now, slog.New(slog.DiscardHandler))
	var of *sitecert.FileError
	if errors.As(err, &of) {
		return []Finding{failure("server.tls."+of.Of, of.Err, of.Remedy)}
	}
	const key = "server.tls.certificate"
	state := i.State()
	var findings []Finding
	for _, note := range state.Notes(c.OwnSite(), now) {
		findings = append(findings, warning(key, note, "have a new one signed for this site's name, see varq.yaml(5); varqd reads it by itself"))
	}
	if findings == nil {
		findings = []Finding{ok(key, "%s, that of %.200q, is good for %d more days", t.Certificate, state.Names, int(state.Expires.Sub(now).Hours()/24))}
	}
	return findings
}

// program examines the program that a command line begins with. Nobody else may change what varqd
// runs, as one of the owners.
func program(of, command string, owners []uint32) Finding {
	path, err := guard.Command(command, owners...)
	var open *guard.Error
	switch {
	case errors.As(err, &open):
		return failure(of, open.Found+", and it runs with varqd's rights", open.Remedy)
	case err != nil:
		return failure(of, err, "name a program that varqd's user may execute")
	}
	return ok(of, "%s", path)
}

// least is the free space, in bytes, below which a folder is nearly full.
const least = 100 << 20

// folder examines the folder of a file that varqd writes.
func folder(of, path string) Finding {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return warning(of, dir+" does not exist yet", "start varqd by varqd.service, or make the folder: systemd-tmpfiles --create")
	case err != nil:
		return failure(of, err, "let varqd's user into the folder")
	case !info.IsDir():
		return failure(of, dir+" is not a folder", "name a file in a folder")
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return failure(of, fmt.Sprintf("%s cannot be written: %v", dir, err), "chown varq: "+dir)
	}
	if err := unix.Access(path, unix.W_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure(of, fmt.Sprintf("%s cannot be written: %v", path, err), "chown varq: "+path)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return warning(of, fmt.Sprintf("%s: the free space is not known: %v", dir, err), "look with df")
	}
	free := disk.Bavail * uint64(disk.Bsize)
	if free < least {
		return failure(of, fmt.Sprintf("%s has %d MiB left", dir, free>>20), "make room on that disk")
	}
	return ok(of, "%s, %d MiB free", path, free>>20)
}
