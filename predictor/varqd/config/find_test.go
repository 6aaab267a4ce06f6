package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFindClient(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	given := write("given.yaml", "client: {endpoint: 'tcp://head:7900', munge_socket: /run/m}\n")
	bad := write("bad.yaml", "client: {endpiont: x}\n")
	for name, c := range map[string]struct {
		env  map[string]string
		want Client
		fail bool
	}{
		"missing":     {env: map[string]string{"VARQ_CONFIG": filepath.Join(dir, "none")}, want: Default().Client},
		"file":        {env: map[string]string{"VARQ_CONFIG": given}, want: Client{Endpoint: "tcp://head:7900", MungeSocket: "/run/m", User: "varq"}},
		"environment": {env: map[string]string{"VARQ_CONFIG": given, "VARQ_ENDPOINT": "unix:///x"}, want: Client{Endpoint: "unix:///x", MungeSocket: "/run/m", User: "varq"}},
		"misspelt":    {env: map[string]string{"VARQ_CONFIG": bad}, fail: true},
	} {
		got, err := FindClient(func(key string) string { return c.env[key] })
		if got != c.want || (err != nil) != c.fail {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
