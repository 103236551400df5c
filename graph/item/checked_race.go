//go:build race

package item

// checked turns use-after-release checks on.
const checked = true

// scribble overwrites released memory, so that a late reader sees nonsense at once rather than another sample's bytes.
func scribble(b []byte) {
	for i := range b {
		b[i] = 0xDB
	}
}
