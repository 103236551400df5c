package registry


// Port is an upstream port whose type is known only to the entry that made it.
type Port struct {
	Carries string // display name of the type: "samples", "batches"
	port    any
	key     any
}
