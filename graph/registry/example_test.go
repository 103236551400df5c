package registry_test

import (
	"fmt"

	"github.com/penstock-go/penstock/graph/registry"
)

// Crop is a config struct; its zero value means the defaults.
type Crop struct {
	Size int
	Mode string
}

func (c *Crop) Bind(f *registry.Fields) {
	f.Int(&c.Size, "size", 224, "edge in pixels", registry.Min(1), registry.Max(8192))
	f.Choice(&c.Mode, "mode", "centre", "where it is cut out", "centre", "random")
}

func ExampleCheck() {
	fmt.Println(registry.Check(&Crop{}, (*Crop).Bind))
	fmt.Println(registry.Check(&Crop{Size: -1, Mode: "center"}, (*Crop).Bind))
	// Output:
	// <nil>
	// size must be at least 1, got -1
	// mode must be one of centre, random, got "center" (did you mean "centre"?)
}

func ExampleFilled() {
	fmt.Printf("%+v\n", registry.Filled(Crop{Size: 64}, (*Crop).Bind))
	// Output: {Size:64 Mode:centre}
}

func ExampleNear() {
	fmt.Println(registry.Near("colate", []string{"collate", "cache", "decode_image"}))
	// Output: collate
}
