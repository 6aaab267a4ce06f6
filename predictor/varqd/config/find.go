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
	c, err := Load(Path(getenv))
	if errors.Is(err, fs.ErrNotExist) {
		c, err = Default(), nil
	}
	if err != nil {
		return Client{}, err
	}
	if endpoint := getenv("VARQ_ENDPOINT"); endpoint != "" {
		c.Client.Endpoint = endpoint
	}
	return c.Client, nil
}
