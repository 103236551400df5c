package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Violations lists where a document departs from a schema.
func Violations(schema map[string]any, document []byte, name string) ([]string, error) {
	var doc any
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	var v validator
	v.check(schema, doc, name)
	return v.problems, nil
}

// validator checks a document against the part of JSON Schema that report.schema.json uses. It refuses keywords that it
// does not know, so that no rule is passed over.
type validator struct{ problems []string }

func (v *validator) check(schema map[string]any, x any, at string) {
	for key, rule := range schema {
		switch key {
		case "$schema", "title", "description", "properties", "required", "additionalProperties":
		case "type":
			v.must(hasType(rule, x), at, "type %v, got %T", rule, x)
		case "const":
			v.must(rule == x, at, "want %v, got %v", rule, x)
		case "enum":
			v.must(slices.Contains(rule.([]any), x), at, "not one of %v: %v", rule, x)
		case "minimum":
			n, ok := x.(float64)
			v.must(!ok || n >= rule.(float64), at, "%v is below %v", x, rule)
		case "maximum":
			n, ok := x.(float64)
			v.must(!ok || n <= rule.(float64), at, "%v is above %v", x, rule)
		case "items":
			list, _ := x.([]any)
			for i, e := range list {
				v.check(rule.(map[string]any), e, fmt.Sprintf("%s[%d]", at, i))
			}
		default:
			v.must(false, at, "unknown keyword %q in the schema", key)
		}
	}
	if object, ok := x.(map[string]any); ok {
		v.object(schema, object, at)
	}
}

func (v *validator) object(schema, x map[string]any, at string) {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, key := range required {
		_, ok := x[key.(string)]
		v.must(ok, at, "lacks %v", key)
	}
	for key, value := range x {
		p, ok := properties[key].(map[string]any)
		v.must(ok || schema["additionalProperties"] != false, at, "does not allow %q", key)
		if ok {
			v.check(p, value, at+"."+key)
		}
	}
}

func (v *validator) must(ok bool, at, format string, args ...any) {
	if !ok {
		v.problems = append(v.problems, at+": "+fmt.Sprintf(format, args...))
	}
}

func hasType(rule, x any) bool {
	if list, ok := rule.([]any); ok {
		return slices.ContainsFunc(list, func(t any) bool { return hasType(t, x) })
	}
	ok := false
	switch rule {
	case "null":
		ok = x == nil
	case "object":
		_, ok = x.(map[string]any)
	case "array":
		_, ok = x.([]any)
	case "string":
		_, ok = x.(string)
	case "boolean":
		_, ok = x.(bool)
	case "number":
		_, ok = x.(float64)
	case "integer":
		n, is := x.(float64)
		ok = is && n == math.Trunc(n)
	}
	return ok
}
