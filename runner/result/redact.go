package result

import "reflect"

// Redact replaces the texts of a record, in place. Words of closed sets, histograms and numbers stay as they are.
func Redact(r *Result, hide func(string) string) { redact(reflect.ValueOf(r).Elem(), hide) }

func redact(v reflect.Value, hide func(string) string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			redact(v.Elem(), hide)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Histogram" {
				redact(v.Field(i), hide)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			redact(v.Index(i), hide)
		}
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() {
			v.SetString(hide(v.String()))
		}
	}
}
