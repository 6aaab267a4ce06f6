package slurmrestd

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/slurm"
)

// reads are the ways to read each of the API's lists, by the fixture that has the list.
var reads = map[string]func(*testing.T, *Client) error{
	"slurm_jobs":           func(t *testing.T, c *Client) error { _, err := c.Queue(t.Context()); return err },
	"slurm_nodes":          func(t *testing.T, c *Client) error { _, err := c.Nodes(t.Context()); return err },
	"slurm_ping":           func(t *testing.T, c *Client) error { return c.Ping(t.Context()) },
	"slurm_diag":           func(t *testing.T, c *Client) error { _, _, err := c.Clock(t.Context()); return err },
	"slurm_partitions":     readCluster,
	"slurm_reservations":   readCluster,
	"slurm_licenses":       readCluster,
	"slurmdb_qos":          readCluster,
	"slurmdb_associations": readCluster,
	"slurmdb_users":        func(t *testing.T, c *Client) error { _, err := c.Operators(t.Context()); return err },
	"slurmdb_jobs": func(t *testing.T, c *Client) error {
		for _, err := range c.History(t.Context(), start, start+3600, nil) {
			if err != nil {
				return err
			}
		}
		return nil
	},
}

func readCluster(t *testing.T, c *Client) error { _, err := c.Cluster(t.Context()); return err }

// serveChanged is serveFixtures with one fixture changed.
func serveChanged(t *testing.T, v version, fixture string, change func(answer map[string]any)) *Client {
	data, err := os.ReadFile(filepath.Join("testdata", v.String(), fixture+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(data, &content); err != nil {
		t.Fatal(err)
	}
	change(content)
	if data, err = json.Marshal(content); err != nil {
		t.Fatal(err)
	}
	path := "/" + strings.Replace(fixture, "_", "/"+v.String()+"/", 1)
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			w.Write(data)
			return
		}
		fixtureHandler(v).ServeHTTP(w, r)
	}))
}

// An answer without the field that was asked for, or with null in its place, is not an empty list.
func TestMissingField(t *testing.T) {
	for v := oldest; v <= newest; v++ {
		for fixture, read := range reads {
			field := strings.SplitN(fixture, "_", 2)[1]
			switch {
			case field == "ping":
				field = "pings"
			case field == "diag":
				field = "statistics"
			case field == "qos" && v == 38:
				field = "QOS"
			}
			for name, change := range map[string]func(map[string]any){
				"{}":     func(a map[string]any) { clear(a) },
				"absent": func(a map[string]any) { delete(a, field) },
				"null":   func(a map[string]any) { a[field] = nil },
			} {
				err := read(t, serveChanged(t, v, fixture, change))
				want := `bad answer: it has no field "` + strings.ToLower(field) + `"`
				if !errors.Is(err, slurm.ErrUnavailable) || !strings.Contains(err.Error(), want) {
					t.Errorf("%v %s %s: %v", v, fixture, name, err)
				}
			}
		}
	}
}

// A partition without its limits, a QOS without its, and so on, are errors too.
func TestMissingFieldOfElement(t *testing.T) {
	for fixture, keys := range map[string][]string{
		"slurm_jobs":           {"job_id", "job_state", "submit_time", "eligible_time", "start_time", "time_limit"},
		"slurm_nodes":          {"name", "state", "cpus"},
		"slurm_partitions":     {"name", "maximums", "max_time_limit"},
		"slurm_reservations":   {"name", "start_time", "end_time"},
		"slurm_licenses":       {"LicenseName", "Total"},
		"slurmdb_qos":          {"name", "limits"},
		"slurmdb_associations": {"account", "max"},
		"slurmdb_users":        {"name", "administrator_level"},
		"slurmdb_jobs":         {"job_id", "state", "time"},
	} {
		for v := oldest; v <= newest; v++ {
			for _, key := range keys {
				found := false
				err := reads[fixture](t, serveChanged(t, v, fixture, func(a map[string]any) {
					for _, list := range a {
						if list, ok := list.([]any); ok && len(list) > 0 {
							if last, ok := list[len(list)-1].(map[string]any); ok {
								_, found = last[key]
								delete(last, key)
							}
						}
					}
				}))
				if found && (!errors.Is(err, slurm.ErrUnavailable) || !strings.Contains(err.Error(), `it has no field "`+key)) {
					t.Errorf("%v %s without %s: %v", v, fixture, key, err)
				}
			}
		}
	}
}

// Every Slurm has a partition, a QOS, an association and a user.
func TestEmptyLists(t *testing.T) {
	forEachVersion(t, func(t *testing.T, v version, _ *Client) {
		for _, fixture := range []string{"slurm_partitions", "slurmdb_qos", "slurmdb_associations", "slurmdb_users"} {
			err := reads[fixture](t, serveChanged(t, v, fixture, func(a map[string]any) {
				for key, list := range a {
					if list, ok := list.([]any); ok && len(list) > 0 {
						a[key] = []any{}
					}
				}
			}))
			if !errors.Is(err, slurm.ErrUnavailable) || !strings.Contains(err.Error(), "the list is empty") {
				t.Errorf("%s: %v", fixture, err)
			}
		}
		for fixture, key := range map[string]string{"slurm_reservations": "reservations", "slurm_licenses": "licenses", "slurm_jobs": "jobs", "slurmdb_jobs": "jobs"} {
			if err := reads[fixture](t, serveChanged(t, v, fixture, func(a map[string]any) { a[key] = []any{} })); err != nil {
				t.Errorf("%s may be empty: %v", fixture, err)
			}
		}
	})
}

// A slurmrestd whose answer to a change says nothing may not have made it.
func TestUnconfirmedChange(t *testing.T) {
	c := serve(t, api(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	for name, err := range map[string]error{
		"update": c.Update(t.Context(), slurm.Update{Job: 7, TimeLimit: 60}), "cancellation": c.Cancel(t.Context(), 7),
	} {
		if !errors.Is(err, slurm.ErrUnavailable) || !strings.Contains(err.Error(), `it has no field "errors"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
