package sources

import (
	"errors"

	"github.com/penstock-go/penstock/graph"
)

// passing marks an error of the operating system that may pass by itself, so that retry tries the file again:
//
//   - the call was disturbed: EINTR, EAGAIN, EBUSY;
//   - too many files are open, in this process or on the machine: EMFILE, ENFILE;
//   - memory or buffers are short: ENOMEM, ENOBUFS;
//   - a file of a network file system was replaced under its handle: ESTALE;
//   - the server of a network file system is out of reach or slow: ETIMEDOUT, ECONNREFUSED, ECONNRESET, ECONNABORTED,
//     EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH, ENETRESET, ENOTCONN, EPIPE, and EIO, which a soft mount gives when
//     its time is up and a bad disk gives too;
//   - on Windows also a file that another program holds or a share that is gone for the moment: sharing and lock
//     violations, ERROR_NETNAME_DELETED, ERROR_NETWORK_BUSY, ERROR_SEM_TIMEOUT, ERROR_TOO_MANY_OPEN_FILES.
//
// All else (no such file, no permission, a name that is too long) stays as it is, and so does a file that is empty or
// changes its length while it is read.
func passing(err error) error {
	for _, e := range mayPass {
		if errors.Is(err, e) {
			return graph.Temporary(err)
		}
	}
	return err
}
