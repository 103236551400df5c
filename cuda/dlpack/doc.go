// Package dlpack hands batches to other runtimes in the same process, without a copy: as the tensors that NumPy, PyTorch,
// CuPy and JAX exchange.
//
//	x, err := dlpack.New()                              // once a process: what it takes is never given back
//	...
//	err = batch.Handle.Enter(stream)                    // the stream of the other side, which waits for the copy
//	at, err := x.Export(batch, "image", dlpack.Versioned)
//	... // hand at over: the other side makes a capsule of it, named dlpack.Versioned.Name()
//
// What is at the address, all little-endian, pointers of 8 bytes:
//
//	DLTensor                    DLManagedTensor (up to 0.8)   DLManagedTensorVersioned (1.0)
//	 0 void *data                0 DLTensor dl_tensor          0 uint32 major, 4 uint32 minor
//	 8 int32 device_type        48 void *manager_ctx           8 void *manager_ctx
//	12 int32 device_id          56 void (*deleter)(self)      16 void (*deleter)(self)
//	16 int32 ndim                                             24 uint64 flags
//	20 uint8 code, 21 uint8 bits, 22 uint16 lanes             32 DLTensor dl_tensor
//	24 int64 *shape
//	32 int64 *strides, in elements
//	40 uint64 byte_offset
//
// An export keeps the batch until the other side calls the deleter, from any thread, which it must do once. Then the batch
// is released: its memory is filled again after what was on the stream that was entered. Whoever enters no stream must wait
// for the copy (Handle.Wait) and have finished its work before the deleter. Batches in page-locked and other memory of the
// host are handed over too; an emulated device's are refused, for its addresses are none. The bytes must not be written to.
package dlpack
