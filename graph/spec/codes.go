package spec

// Code is a sort of diagnostic. Codes are stable: tools may go by them.
type Code struct {
	Name, Meaning string
}

// Codes lists every code that a diagnostic of a spec can bear, grouped by what they concern. docs/diagnostics.md has an
// example of each.
func Codes() []Code {
	return []Code{
		{"unreadable", "The file with the spec cannot be read."},
		{"syntax", "The text is not YAML. What comes after this place is not looked at."},
		{"too_large", "The spec is beyond a limit: 1 MiB of text, 100,000 values, 32 levels, 1,000 stages."},
		{"several_documents", "A spec is one YAML document."},
		{"yaml_feature", "Tags, merge keys and keys that are not words are not read."},
		{"duplicate_key", "A key is given twice in one map; the first one stands."},
		{"variable", "A variable is not set, or ${...} is not of the form ${NAME} or ${NAME:-default}."},

		{"missing_key", "A required key of the pipeline or of a stage is missing."},
		{"unknown_key", "There is no such key or field; a near name is shown."},
		{"not_supported", "The key is reserved but not built yet. It is never ignored."},
		{"no_stages", "The pipeline has no stages."},
		{"bad_id", "An id is not lower_snake_case, is too long, or is a key of the pipeline."},
		{"duplicate_id", "Two stages have the same id."},
		{"no_kind", "A stage does not say what it is."},
		{"several_kinds", "A stage has more than one kind."},
		{"unknown_kind", "There is no such kind; a near name is shown, and the rest is checked as if that had been meant."},

		{"field_type", "A value is of another type than its field takes."},
		{"field_range", "A value is out of the field's range, or does not fit in 64 bits."},
		{"field_value", "A value is none of the words that the field takes, or not allowed beside others."},
		{"field_missing", "A required field is missing."},

		{"outside_root", "A path leads out of the folder of --root, itself or by a link."},

		{"unknown_from", "from names a stage that is not there."},
		{"duplicate_from", "from names a stage twice."},
		{"missing_input", "A stage that needs an input has none: the first stage must be a source."},
		{"too_many_inputs", "A stage that takes one input is given several; join them with merge."},
		{"merge_inputs", "A merge needs at least two inputs."},
		{"source_input", "A source has no input, so it has no from."},
		{"used_twice", "Two stages take the output of one; an output goes to one stage."},
		{"no_reader", "Nobody takes a stage's output."},
		{"no_sink", "The pipeline does not end with a sink."},
		{"two_sinks", "The pipeline has more than one sink."},
		{"sink_in_middle", "A stage takes its items from a sink, which makes none."},
		{"cycle", "Stages go round in a circle; the path is shown in the direction of flow."},

		{"port_type", "A stage takes samples but is given batches, or the other way round; the stage to put between them is named."},
		{"missing_field", "The items that come lack a field that the stage needs, or have it in another form; the stage to insert is named."},
		{"schema", "The fields that come do not suit the stage in another way."},
		{"place", "The batches that come lie on a device, where the stage cannot reach them."},
		{"below", "The stage needs another one below it."},

		{"steps_needed", "Ranks would not make equally many steps: the spec must say steps_per_epoch."},
		{"cache_place", "A cache stands where it cannot work: behind a random stage, a merge or another cache. The place to put it is named."},

		{"serial_stage", "The setting does not exist for this stage: sinks, merges and some stages take one item after the other."},
		{"not_a_source", "Only a source has a sampler."},
		{"no_effect", "A setting changes nothing beside the others. This is a warning."},

		{"bad_override", "An option --set is not of the form KEY=VALUE or ID.KEY=VALUE, or sets what cannot be set."},
		{"unknown_stage", "An option names a stage that is not there."},
		{"no_output", "The stage to look at is a sink, which makes nothing."},
	}
}
