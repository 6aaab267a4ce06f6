package server

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
)

// description is what the test needs of an OpenAPI document.
type description struct {
	Paths      map[string]map[string]any
	Components struct {
		Schemas map[string]struct{ Properties map[string]any }
	}
}

func TestOpenAPIIsComplete(t *testing.T) {
	var d description
	if err := json.Unmarshal(openAPI, &d); err != nil {
		t.Fatal(err)
	}
	for path, method := range map[string]string{
		api.PathPlan: "post", api.PathQuote: "post", api.PathBind: "post", api.PathPredict: "post",
		api.PathReservations: "get", api.PathReport: "get", api.PathCalibration: "get", api.PathHealth: "get", api.PathMetrics: "get", api.PathOpenAPI: "get",
	} {
		if d.Paths[path][method] == nil {
			t.Errorf("%s %s is missing", method, path)
		}
	}
	seen := map[reflect.Type]bool{}
	var check func(t *testing.T, typ reflect.Type)
	check = func(t *testing.T, typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		name := typ.Name()
		if strings.HasSuffix(typ.PkgPath(), "/workload") {
			name = "Job" + name
		}
		for _, field := range reflect.VisibleFields(typ) {
			if field.Anonymous {
				continue
			}
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if d.Components.Schemas[name].Properties[key] == nil {
				t.Errorf("schema %s lacks %q", name, key)
			}
			check(t, field.Type)
		}
	}
	for _, v := range []any{
		api.PlanRequest{}, api.PlanAnswer{}, api.Binding{}, api.Reservation{}, api.Report{}, api.Calibration{},
		api.PredictRequest{}, api.Prediction{}, api.Health{}, api.Error{},
	} {
		check(t, reflect.TypeOf(v))
	}
}

func TestOpenAPIIsUpToDate(t *testing.T) {
	out := filepath.Join(t.TempDir(), "openapi.json")
	if text, err := exec.Command("go", "run", "./openapigen", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	fresh, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if string(fresh) != string(openAPI) {
		t.Error("openapi.json is stale: run go generate")
	}
}
