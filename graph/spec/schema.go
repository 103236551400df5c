package spec

import (
	"encoding/json"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
)

// object is a piece of a JSON Schema; encoding/json writes its keys sorted, so the text is always the same.
type object = map[string]any

// Schema is a JSON Schema (draft 7) of specs made of the catalog's kinds, for editors. It is a little wider than the
// language: that a stage has exactly one kind, and all that concerns several stages, only a lint tells.
func Schema(catalog *registry.Catalog) ([]byte, error) {
	stage := stageSchema(catalog)
	for _, k := range catalog.Kinds() {
		stage[k.Name] = kindSchema(k)
	}
	root := object{
		"$schema":              "http://json-schema.org/draft-07/schema#",
		"title":                "Penstock pipeline",
		"type":                 "object",
		"required":             array("pipeline", "stages"),
		"additionalProperties": false,
		"definitions":          object{"source": sourceSchema(catalog)},
		"properties": object{
			"pipeline": describe(object{"type": "string", "minLength": 1, "maxLength": 100}, "Name of the pipeline."),
			"seed":     describe(number("integer", object{"minimum": 0}), "What all randomness comes from, 64 bits. Default 0."),
			"epochs": describe(object{"anyOf": array(object{"type": "integer", "minimum": 1}, object{"const": "forever"}, variable)},
				"How often the data is gone through. Default 1."),
			"rank":  describe(number("integer", object{"minimum": 0}), "Number of this process in the job, from 0. Default: as the launcher says."),
			"world": describe(number("integer", object{"minimum": 1}), "Number of the job's processes. Default: as the launcher says, else 1."),
			"uneven": describe(object{"enum": array("pad", "drop", "keep")},
				"What becomes of samples that do not divide by the ranks: the first ones come again, the last ones are left out, or some ranks have one more. Default pad."),
			"steps_per_epoch": describe(number("integer", object{"minimum": 1}), "Deliveries of the sink in an epoch. Default: as the data have it."),
			"budget": describe(object{"type": "object", "additionalProperties": false, "properties": object{
				"cpu":    describe(object{"type": "string"}, "Share of the cores, such as 80%."),
				"memory": describe(sizeSchema(), "Most bytes of batches and samples in flight. Default: half the container's limit."),
			}}, "What the pipeline may take."),
			"stages": object{"type": "array", "minItems": 1, "maxItems": MaxStages, "items": object{
				"type": "object", "required": array("id"), "additionalProperties": false, "minProperties": 2, "properties": stage,
			}},
		},
	}
	b, err := json.MarshalIndent(root, "", "  ")
	return append(b, '\n'), err
}

func array(x ...any) []any { return x }

func describe(o object, text string) object {
	o["description"] = text
	return o
}

// variable is the form of a value that the environment gives.
var variable = object{"type": "string", "pattern": `\$\{`}

func number(kind string, limits object) object {
	limits["type"] = kind
	return object{"anyOf": array(limits, variable)}
}

func sizeSchema() object {
	return object{"type": "string", "pattern": `^[0-9.]+([KMGT]i?)?B$|\$\{`}
}

func stageSchema(catalog *registry.Catalog) object {
	count := func(most int, doc string) object {
		return describe(object{"anyOf": array(object{"type": "integer", "minimum": 1, "maximum": most}, object{"const": "auto"}, variable)}, doc)
	}
	policies := policySchemas()
	return object{
		"id": describe(object{"type": "string", "pattern": idForm.String(), "maxLength": maxID}, "Name of the stage."),
		"from": describe(object{"anyOf": array(object{"type": "string"}, object{"type": "array", "items": object{"type": "string"}})},
			"The stage whose items it takes. Default: the stage above."),
		"workers":  count(graph.MaxWorkers, "Number of goroutines. Default auto."),
		"buffer":   count(graph.MaxBuffer, "Capacity of the output queue, in items. Default auto."),
		"window":   count(graph.MaxBuffer, "How far finished items may run ahead of the oldest unfinished one. Default auto."),
		"order":    describe(object{"enum": array("input", "completion")}, "Order of the output. Default input."),
		"on_error": policies["on_error"],
		"retry":    policies["retry"],
		"timeout":  policies["timeout"],
		"sampler":  describe(samplerSchema(catalog), "Order in which a source is read. Default sequential."),
	}
}

// samplerSchema takes the names of those that need nothing, and maps of one name with fields or with the first of them.
func samplerSchema(catalog *registry.Catalog) object {
	names, full := []any{}, object{}
	for _, k := range catalog.Samplers() {
		body := kindSchema(k)
		if body["required"] == nil {
			names = append(names, k.Name)
		}
		if fields := k.Entries[0].Fields; len(fields) > 0 {
			body = object{"anyOf": array(body, fieldSchema(fields[0])), "description": k.Summary}
		}
		full[k.Name] = body
	}
	return object{"anyOf": array(object{"enum": names},
		object{"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1, "properties": full})}
}

// sourceSchema takes a source within another: a map of one kind, which may be such a source itself.
func sourceSchema(catalog *registry.Catalog) object {
	kinds := object{}
	for _, k := range catalog.Kinds() {
		if k.Role == registry.RoleSource {
			kinds[k.Name] = kindSchema(k)
		}
	}
	return object{"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1, "properties": kinds}
}

func kindSchema(k registry.Kind) object {
	props, needed := object{}, []any{}
	for _, f := range k.Entries[0].Fields {
		doc := f.Doc
		if f.Required() {
			needed = append(needed, f.Name)
		} else {
			doc += " Default " + f.Default + "."
		}
		props[f.Name] = describe(fieldSchema(f), doc)
	}
	o := object{"type": array("object", "null"), "additionalProperties": false, "properties": props, "description": k.Summary}
	if len(needed) > 0 {
		o["type"], o["required"] = "object", needed
	}
	return o
}

func fieldSchema(f registry.Field) object {
	text := object{"type": "string"}
	switch f.Type {
	case registry.TypeInt, registry.TypeUint:
		return number("integer", bounds(f))
	case registry.TypeFloat:
		return number("number", bounds(f))
	case registry.TypeBool:
		return number("boolean", object{})
	case registry.TypeChoice:
		return object{"enum": words(f.Choices)}
	case registry.TypeSize:
		return sizeSchema()
	case registry.TypeTime:
		return timeSchema()
	case registry.TypeInts:
		return listSchema(f, number("integer", bounds(f)))
	case registry.TypeFloats:
		return listSchema(f, number("number", bounds(f)))
	case registry.TypeTexts, registry.TypePaths:
		return listSchema(f, text)
	case registry.TypeSources:
		lo, _ := f.Lengths()
		return object{"type": "array", "minItems": lo, "items": object{"$ref": "#/definitions/source"}}
	}
	if lo, hi := f.Lengths(); lo > 0 || hi > 0 {
		text["minLength"] = lo
		if hi > 0 {
			text["maxLength"] = hi
		}
	}
	return text
}

func words(list []string) []any {
	out := make([]any, len(list))
	for i, w := range list {
		out[i] = w
	}
	return out
}

func bounds(f registry.Field) object {
	o := object{}
	lo, hi, loOpen, hiOpen := f.Bounds()
	set := func(x *float64, open bool, closedKey, openKey string) {
		switch {
		case x == nil:
		case open:
			o[openKey] = *x
		default:
			o[closedKey] = *x
		}
	}
	set(lo, loOpen, "minimum", "exclusiveMinimum")
	set(hi, hiOpen, "maximum", "exclusiveMaximum")
	if f.Type == registry.TypeUint && lo == nil {
		o["minimum"] = 0
	}
	return o
}

func listSchema(f registry.Field, each object) object {
	list := object{"type": "array", "items": each}
	lo, hi := f.Lengths()
	if lo > 0 {
		list["minItems"] = lo
	}
	if hi > 0 {
		list["maxItems"] = hi
	}
	return object{"anyOf": array(list, each)}
}

func durationSchema() object {
	return object{"type": "string", "pattern": `^[0-9.]+(ns|us|µs|ms|s|m|h)([0-9.]+(ns|us|µs|ms|s|m|h))*$|\$\{`}
}

func timeSchema() object {
	length := durationSchema()
	shape := func(name string, keys object) object {
		return object{"type": "object", "additionalProperties": false, "required": array(name), "properties": object{
			name: object{"type": "object", "additionalProperties": false, "properties": keys}}}
	}
	return object{"anyOf": array(length,
		shape("normal", object{"mean": length, "stddev": length}),
		shape("lognormal", object{"mean": length, "sigma": object{"type": "number", "minimum": 0}}),
		shape("uniform", object{"min": length, "max": length}))}
}
