package config

import (
	"errors"
	"io/fs"
)

// Path returns where the configuration file is: VARQ_CONFIG, or DefaultPath.
func Path(getenv func(string) string) string {
	if path := getenv("VARQ_CONFIG"); path != "" {
		return path
	}
	return DefaultPath
}

// FindClient returns how to reach varqd: by VARQ_ENDPOINT, else by the
// configuration file. A missing file is as good as an empty one.
func FindClient(getenv func(string) string) (Client, error) {
	c, err := find(getenv)
	if err != nil {
		return Client{}, err
	}
	return c.ownClient(getenv), nil
}

// FindLedger returns where the ledger of this host's varqd is, by the configuration file. A missing
// file is as good as an empty one.
func FindLedger(getenv func(string) string) (path string, err error) {
	c, err := find(getenv)
	return c.Ledger.Path, err
}

// ownClient returns how to reach this host's varqd: by VARQ_ENDPOINT, else as the file says.
func (c *Config) ownClient(getenv func(string) string) Client {
	own := c.Client
	if endpoint := getenv("VARQ_ENDPOINT"); endpoint != "" {
		own.Endpoint = endpoint
	}
	return own
}

// find reads the configuration file. A missing file is as good as an empty one.
func find(getenv func(string) string) (Config, error) {
	c, err := Load(Path(getenv))
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	return c, err
}
