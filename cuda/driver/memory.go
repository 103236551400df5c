//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

const (
	hugePage      = 2 << 20
	populateWrite = 23 // MADV_POPULATE_WRITE, from Linux 5.14 on
	preferred     = 1  // MPOL_PREFERRED
)

// Map takes pages of the system, not of the garbage collector, which would have to leave them alone for as long as the
// driver knows them. Large pieces begin on a huge page and ask for such.
func (d *device) Map(n int) ([]byte, error) {
	page := os.Getpagesize()
	size := (n + page - 1) &^ (page - 1)
	skip := 0
	if n >= 2*hugePage {
		size += hugePage
	}
	whole, err := syscall.Mmap(-1, 0, max(size, page), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	if n >= 2*hugePage {
		skip = int(-at(whole) & (hugePage - 1))
		_ = syscall.Madvise(whole[skip:skip+(n&^(hugePage-1))], syscall.MADV_HUGEPAGE) // refused: pages are small
	}
	b := whole[skip : skip+n : skip+n]
	d.near(b)
	d.mu.Lock()
	d.maps[unsafe.SliceData(b)] = whole
	d.mu.Unlock()
	return b, nil
}

func (d *device) Unmap(b []byte) error {
	d.mu.Lock()
	whole := d.maps[unsafe.SliceData(b)]
	delete(d.maps, unsafe.SliceData(b))
	d.mu.Unlock()
	if whole == nil {
		return syscall.EINVAL
	}
	return syscall.Munmap(whole)
}

// near asks for pages of the node that the device is nearest to. It may be refused, as in many containers.
func (d *device) near(b []byte) {
	if d.info.Node < 0 || d.info.Node > 62 {
		return
	}
	number := map[string]uintptr{"amd64": 237, "arm64": 235}[runtime.GOARCH] // mbind
	nodes := uint64(1) << d.info.Node
	_, _, _ = syscall.Syscall6(number, at(b), uintptr(len(b)), preferred, uintptr(unsafe.Pointer(&nodes)), 64, 0)
}

// populate has the system find all pages of a piece at once. Locking would do it one by one. Old systems
// refuse.
func (d *device) populate(b []byte) { _ = syscall.Madvise(b, populateWrite) }
