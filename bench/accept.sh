#!/usr/bin/env bash
# Looks at a machine with an NVIDIA device, in less than five minutes: bench/accept.sh [build | FLAGS]
#
# build, where Go is: makes bench/accept/bin/accept-linux-{amd64,arm64}, and accept-gorgonia-linux-... for this machine's
# processor where there is a C compiler. Carry bench/accept.sh, bench/accept/torch_rates.py and that folder to the machine
# with the device; nothing else is needed there but the driver. FLAGS: -device NUMBER, -most BYTES, -rounds N, -side N,
# -json FILE.
#
# Page-lock cost, rates to the device by size from pageable and registered memory, overlap of copies with work at
# compute/copy 0.5, 1 and 2, checksums of what arrived, and waits of whole pipelines, with pin and without, whose work is a
# matrix product where cuBLAS is found (PENSTOCK_LIBCUBLAS names it). Then, where they are there: the link by nvidia-smi, the
# same by gorgonia.org/cu, torch's figures beside these, and a short round under compute-sanitizer's memcheck. Ends with
# 0: all arrived; 1: something failed, or took more than five minutes; 2: wrong use; 3: there is no device. No speed is
# judged: it has not been run on hardware yet.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=bench/accept/bin
if [ "${1:-}" = build ]; then
  [ $# = 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "bench/accept.sh" >&2; exit 2; }
  mkdir -p "$bin"
  for arch in amd64 arm64; do
    CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags=-s -o "$bin/accept-linux-$arch" ./bench/accept
  done
  if command -v cc >/dev/null && [ "$(go env GOOS)" = linux ]; then
    CGO_ENABLED=1 CGO_CFLAGS=-I$PWD/cuda/gorgonia/include go build -tags gorgonia -trimpath -ldflags=-s \
      -o "$bin/accept-gorgonia-linux-$(go env GOARCH)" ./bench/accept
  else
    echo "accept: no C compiler (cc), so there is no program with gorgonia.org/cu" >&2
  fi
  ls -l "$bin"
  exit 0
fi
case $(uname -m) in
  x86_64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) echo "accept: no program for $(uname -m), only for x86_64 and aarch64" >&2; exit 2 ;;
esac
program=$bin/accept-linux-$arch
if [ ! -x "$program" ]; then
  echo "accept: $program is missing: make it with bench/accept.sh build, where Go is" >&2
  exit 2
fi
began=$SECONDS failed=0

# step NAME COMMAND...: what is left of 290 seconds is its limit. 3 and wrong use of our own programs end the script, other
# faults are kept.
step() {
  local name=$1 rc=0
  shift
  echo "== $name"
  local left=$((290 - SECONDS + began))
  if [ "$left" -lt 5 ]; then
    echo "accept: no time is left for it" >&2
    failed=1
    return
  fi
  timeout "$left" "$@" || rc=$?
  case $rc:$1 in
    0:*) ;;
    2:"$bin"/* | 3:"$bin"/*) exit "$rc" ;;
    124:*) echo "accept: $name was not done after $left seconds, given up; -most and -rounds make it shorter" >&2; failed=1 ;;
    *) echo "accept: $name failed ($rc)" >&2; failed=1 ;;
  esac
}

# absent NAME: it is no fault, and said.
absent() { echo "== $1: not here, left out"; }

json=$(mktemp)
trap 'rm -f "$json" "$json.gorgonia"' EXIT
figures=$json before=
for word in "$@"; do # a file of the user's own
  case $before in -json | --json) figures=$word ;; esac
  case $word in -json=* | --json=*) figures=${word#*=} ;; esac
  before=$word
done
[ -z "${PENSTOCK_LIBCUDA:-}" ] && command -v nvidia-smi >/dev/null &&
  step link nvidia-smi --query-gpu=name,driver_version,pci.bus_id,pcie.link.gen.current,pcie.link.width.current,memory.used --format=csv ||
  absent "the link by nvidia-smi"
step driver "$program" -json "$json" "$@"
if [ -x "$bin/accept-gorgonia-linux-$arch" ]; then
  step gorgonia "$bin/accept-gorgonia-linux-$arch" "$@" -backend gorgonia -json "$json.gorgonia"
else
  absent "gorgonia.org/cu"
fi
if [ -z "${PENSTOCK_LIBCUDA:-}" ] && python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  step torch python3 bench/accept/torch_rates.py "$figures"
else
  absent torch
fi
if [ -z "${PENSTOCK_LIBCUDA:-}" ] && command -v compute-sanitizer >/dev/null; then
  step memcheck compute-sanitizer --tool memcheck --error-exitcode 9 "$program" -most 1048576 -rounds 1
else
  absent "memcheck by compute-sanitizer"
fi
echo "accept: $([ "$failed" = 0 ] && echo "all arrived" || echo "something failed"), $((SECONDS - began)) s"
exit "$failed"
