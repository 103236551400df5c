package stages

import (
	"runtime"

	"github.com/penstock-go/penstock/graph"
)

// needKernels tells that pixels are computed by Go code on a sort of processor for which there are kernels.
func needKernels(env *graph.Env, have bool) {
	if runtime.GOARCH == "amd64" && !have {
		env.Degraded("pixels are computed without the kernels for AVX2, which the processor does not have or the build tag noasm left out; " +
			"that takes several times as long and gives the same pixels")
	}
}
