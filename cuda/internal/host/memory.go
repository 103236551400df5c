//go:build linux && (amd64 || arm64)

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

const (
	hugePage      = 2 << 20
	populateWrite = 23 // MADV_POPULATE_WRITE, from Linux 5.14 on
	preferred     = 1  // MPOL_PREFERRED
)

// Memory is what was mapped for a device.
type Memory struct {
	Node int // NUMA node that pages are asked for from; -1: any

	mu   sync.Mutex
	maps map[*byte][]byte // what was mapped for what Map gave
}

// Map takes pages of the system, not of the garbage collector, which would have to leave them alone for as long as the
// driver knows them. Large pieces begin on a huge page and ask for such.
func (m *Memory) Map(n int) ([]byte, error) {
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
		skip = int(-At(whole) & (hugePage - 1))
		_ = syscall.Madvise(whole[skip:skip+(n&^(hugePage-1))], syscall.MADV_HUGEPAGE) // refused: pages are small
	}
	b := whole[skip : skip+n : skip+n]
	m.near(b)
	m.mu.Lock()
	if m.maps == nil {
		m.maps = map[*byte][]byte{}
	}
	m.maps[unsafe.SliceData(b)] = whole
	m.mu.Unlock()
	return b, nil
}

// Unmap gives back what Map gave.
func (m *Memory) Unmap(b []byte) error {
	m.mu.Lock()
	whole := m.maps[unsafe.SliceData(b)]
	delete(m.maps, unsafe.SliceData(b))
	m.mu.Unlock()
	if whole == nil {
		return syscall.EINVAL
	}
	return syscall.Munmap(whole)
}

// near asks for pages of the node that the device is nearest to. It may be refused, as in many containers.
func (m *Memory) near(b []byte) {
	if m.Node < 0 || m.Node > 62 {
		return
	}
	number := map[string]uintptr{"amd64": 237, "arm64": 235}[runtime.GOARCH] // mbind
	nodes := uint64(1) << m.Node
	_, _, _ = syscall.Syscall6(number, At(b), uintptr(len(b)), preferred, uintptr(unsafe.Pointer(&nodes)), 64, 0)
}

// Populate has the system find all pages of a piece at once. Locking would do it one by one. Old systems refuse.
func Populate(b []byte) { _ = syscall.Madvise(b, populateWrite) }

// At is the address of memory that stays where it is: mapped memory, or the heap's, which does not move.
func At(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// NodeOf reads the NUMA node of a place on the bus; -1: unknown.
func NodeOf(devices, bus string) int {
	text, err := os.ReadFile(filepath.Join(devices, strings.ToLower(bus), "numa_node"))
	if err != nil {
		return -1
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return -1
	}
	return int(n)
}
