package link

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/varq-project/varq/predictor/varqd/config"
)

// Users have to forecast for themselves only where nothing says where a varqd is.
func TestOwn(t *testing.T) {
	if _, err := os.Stat(config.Default().Server.Socket); err == nil {
		t.Skip("a varqd runs on this host")
	}
	file := filepath.Join(t.TempDir(), "varq.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		link Link
		env  map[string]string
		want bool
	}{
		"nothing":    {Link{}, map[string]string{"VARQ_CONFIG": "/nonexistent/varq.yaml"}, true},
		"a file":     {Link{}, map[string]string{"VARQ_CONFIG": file}, false},
		"a variable": {Link{}, map[string]string{"VARQ_CONFIG": "/nonexistent/varq.yaml", "VARQ_ENDPOINT": "tcp://a:1"}, false},
		"--endpoint": {Link{Endpoint: "tcp://a:1"}, map[string]string{"VARQ_CONFIG": "/nonexistent/varq.yaml"}, false},
		"--site":     {Link{Site: "beta"}, map[string]string{"VARQ_CONFIG": "/nonexistent/varq.yaml"}, false},
	} {
		c.link.Getenv = func(name string) string { return c.env[name] }
		if c.link.Own() {
			t.Errorf("%s: nothing forecasts for her", name)
		}
		c.link.Alone = nobody{}
		if got := c.link.Own(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

type nobody struct{ Alone }
