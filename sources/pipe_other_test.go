//go:build !unix

package sources

import "testing"

func makePipe(t *testing.T, _ string) {
	t.Helper()
	t.Skip("no named pipes in the file system")
}
