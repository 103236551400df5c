// Package spec reads pipelines from YAML. It finds every problem of a spec at once, each with its position, its stage
// and a stable code, and declares the pipeline through the same functions that a Go program calls. It opens nothing.
//
//	s, diagnostics := spec.Load("train.yaml", os.Stdin, catalog, spec.Options{Set: []string{"decode.workers=8"}})
//	if err := diagnostics.Err(); err != nil {
//		return err // train.yaml:9:25: stage "collate": size must be at least 1, got 0 [field_range]
//	}
//	run, err := s.Pipeline.Start(ctx)
//
// # How values are read
//
// The field decides what a value is, never its looks. A whole number is decimal digits with an optional minus: 4.0, 1e3,
// +4, 1_000, 0777, 0o17, 0x1F and "4" are refused, each with the form to write, since readers of YAML differ about them.
// Whole numbers are exact to 64 bits. A number may have a point and an exponent; there is no infinity and no NaN. A truth
// value is true or false; on, yes and their like are refused. Text needs quotes where it looks like a number or a truth
// value. A time has a unit (5ms) or is one of {normal: {mean, stddev}}, {lognormal: {mean, sigma}}, {uniform: {min,
// max}}; a size has a unit (64MiB; B, KiB to TiB, and KB to TB for powers of 1000). Nothing, ~ and null are refused:
// leave the key out for the default. A value of 0 or "" is what was written, never a request for the default.
//
// ${NAME} and ${NAME:-default} in a value stand for environment variables, as in a shell; $${ is a plain ${. A value
// with such a part, and the value of an override, fits whatever its field takes. Relative paths are relative to the
// spec's folder, those of an override to the working folder. Anchors and aliases work; tags, merge keys and several documents are refused. Limits: 1 MiB of text,
// 100,000 values with aliases counted each time, 32 levels, 1,000 stages.
//
// A syntax error hides what comes after it; all other problems are reported together. A misspelt kind is checked on as
// the one that was probably meant. The functions here are safe for concurrent use.
package spec
