package jpeg

// Kernels says whether blocks are computed by assembly code for this processor. The pixels are the same without.
func Kernels() bool { return haveKernels }
