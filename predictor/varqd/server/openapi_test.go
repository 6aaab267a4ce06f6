package server

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/varq-project/varq/predictor/api"
)

// TestOpenAPI compares the description with the standard, and with the JSON of the API's
// types: each operation's request and answer, with all fields set.
func TestOpenAPI(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, schema := range doc.Components.Schemas {
		schema.Value.AdditionalProperties.Has = new(bool) // an undescribed field is an error
	}
	for _, o := range []struct {
		method, path    string
		request, answer any
	}{
		{http.MethodPost, api.PathPlan, api.PlanRequest{}, api.PlanAnswer{}},
		{http.MethodPost, api.PathQuote, api.PlanRequest{}, api.PlanAnswer{}},
		{http.MethodPost, api.PathBind, api.Binding{}, nil},
		{http.MethodPost, api.PathVitals, api.Vitals{}, nil},
		{http.MethodGet, api.PathNodes, nil, api.Nodes{}},
		{http.MethodPost, api.PathPredict, api.PredictRequest{}, api.Prediction{}},
		{http.MethodGet, api.PathReservations, nil, []api.Reservation{}},
		{http.MethodGet, api.PathReport, nil, api.Report{}},
		{http.MethodGet, api.PathCalibration, nil, api.Calibration{}},
		{http.MethodGet, api.PathNodesScores, nil, api.NodesCalibration{}},
		{http.MethodGet, api.PathHealth, nil, api.Health{}},
		{http.MethodGet, api.PathMetrics, nil, nil},
		{http.MethodGet, api.PathOpenAPI, nil, nil},
	} {
		t.Run(o.method+o.path, func(t *testing.T) {
			path := doc.Paths.Find(o.path)
			if path == nil || path.GetOperation(o.method) == nil {
				t.Fatal("it is missing")
			}
			operation := path.GetOperation(o.method)
			if o.request != nil {
				describes(t, operation.RequestBody.Value.Content, o.request)
			}
			if o.answer != nil {
				describes(t, operation.Responses.Status(http.StatusOK).Value.Content, o.answer)
			}
			describes(t, operation.Responses.Default().Value.Content, api.Error{})
		})
	}
}

// describes checks that content describes the values of v's type.
func describes(t *testing.T, content openapi3.Content, v any) {
	t.Helper()
	filled := reflect.New(reflect.TypeOf(v)).Elem()
	fill(filled)
	text, err := json.Marshal(filled.Interface())
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	if err := content.Get("application/json").Schema.Value.VisitJSON(value, openapi3.MultiErrors()); err != nil {
		t.Errorf("%T: %v", v, err)
	}
}

// fill sets every value in v that is in JSON to something other than its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(.5)
	default:
		v.SetInt(1)
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
