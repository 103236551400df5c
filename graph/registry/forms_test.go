package registry

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// forms are the regular expressions that the written-out forms stand for.
var forms = []struct {
	is   func(string) bool
	form string
}{
	{isName, `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`},
	{isWhole, `^-?(0|[1-9][0-9]*)$`},
	{isFloat, `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`},
	{isNumber, `^[-+]?(0[xob][0-9a-fA-F_]+|[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9]+)?|\.[0-9]+([eE][-+]?[0-9]+)?|\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`},
}

// Every word of up to five of these letters means what the regular expression says.
func TestFormsAreTheRegularExpressions(t *testing.T) {
	const letters = "09-+._eExofa"
	for _, f := range forms {
		form := regexp.MustCompile(f.form)
		var walk func(word []byte)
		walk = func(word []byte) {
			if got, want := f.is(string(word)), form.Match(word); got != want {
				t.Fatalf("%q: %v, wanted %v by %s", word, got, want, f.form)
			}
			if len(word) < 5 {
				for _, c := range []byte(letters) {
					walk(append(word, c))
				}
			}
		}
		walk(nil)
		for _, word := range []string{".inf", "-.INF", ".NaN", "0x_", "0b", "0o17", "1_000.5e+3", "a_b2", "a__b", "é"} {
			require.Equal(t, form.MatchString(word), f.is(word), word)
		}
	}
}
