package workload

import (
	"reflect"
	"testing"
)

// TestEqual: claims differ if any of their fields does, whichever there are.
func TestEqual(t *testing.T) {
	var each func(field reflect.Value, name string, check func(name string))
	each = func(field reflect.Value, name string, check func(name string)) {
		zero := reflect.Zero(field.Type())
		switch {
		case field.Kind() == reflect.Struct:
			for i := range field.NumField() {
				each(field.Field(i), name+"."+field.Type().Field(i).Name, check)
			}
			return
		case field.Kind() == reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case field.Kind() == reflect.String:
			field.SetString("other")
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.CanInt():
			field.SetInt(1)
		default:
			t.Fatalf("%s is a %s", name, field.Kind())
		}
		check(name)
		field.Set(zero)
	}
	var none, some Claim
	each(reflect.ValueOf(&some).Elem(), "Claim", func(name string) {
		if some.Equal(&none) || none.Equal(&some) || !some.Equal(&some) {
			t.Errorf("%s does not tell claims apart", name)
		}
	})
	if !some.Equal(&none) {
		t.Error("two empty claims differ")
	}
}
