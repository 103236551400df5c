// Package cuda is the way of batches onto a device: page-locked host memory, asynchronous copies, device slots, and the
// devices themselves.
//
//	p := graph.New("flowers")
//	...
//	batch := graph.Via(crops, "collate", stages.Collate{Size: 64})
//	pin := graph.Via(batch, "pin", cuda.Pin{})
//	onDev := graph.Via(pin, "copy", cuda.DeviceCopy{Device: "emu:pcie5x16"})
//	out := graph.Output(onDev, "train")
//	...
//	for batch, err := range out.All(run) {
//		err = batch.Handle.Enter(stream) // the stream waits for the copy, the host does not
//		...                              // put work on the stream
//	}
//
// A device is named by a string and opened at Start: "emu:pcie5x16" is emulated, in Go alone, and every report says so;
// "cuda:0" and "auto" are real ones, by the back ends that a program hands over (see [DeviceCopy.Backends]). Nothing
// becomes emulated by itself.
//
// With pin, collate fills page-locked memory at once and nothing is copied on the host. A copy runs on a stream of its
// own into one of a few slots with fixed addresses; a slot is filled again only after what the consumer's stream did
// with it, which the device sees to and no host thread waits for.
package cuda
