#!/usr/bin/env bash
# Looks at a machine with an NVIDIA device, in less than five minutes: bench/accept.sh [build | FLAGS]
#
# build, where Go is: makes bench/accept/bin/accept-linux-{amd64,arm64}. Carry bench/accept.sh and that folder to the
# machine with the device; nothing else is needed there but the driver. FLAGS: -device NUMBER, -most BYTES, -rounds N,
# -json FILE.
#
# Page-lock cost, rates to the device by size from pageable and registered memory, overlap of copies with work at
# compute/copy 0.5, 1 and 2, and checksums of what arrived. Ends with 0: all arrived; 1: something failed, or took more
# than five minutes; 2: wrong use; 3: there is no device. No speed is judged: it has not been run on hardware yet.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=bench/accept/bin
if [ "${1:-}" = build ]; then
  [ $# = 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "bench/accept.sh" >&2; exit 2; }
  mkdir -p "$bin"
  for arch in amd64 arm64; do
    CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -ldflags=-s -o "$bin/accept-linux-$arch" ./bench/accept
  done
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
rc=0
timeout 290 "$program" "$@" || rc=$?
if [ "$rc" = 124 ]; then
  echo "accept: not done after 290 seconds, given up; -most and -rounds make it shorter" >&2
  rc=1
fi
exit "$rc"
