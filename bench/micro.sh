#!/usr/bin/env bash
# The small benchmarks, each with its limit beside it, in the form of go test: bench/micro.sh >new.txt
#
# Decoding beside libjpeg-turbo on the same 64 pictures (with a C compiler and its headers), resizing and collating beside
# a copy, the engine's hand-over and rows beside a plain loop. Two such files, of one machine, are compared by
#
#   go run golang.org/x/perf/cmd/benchstat@latest old.txt new.txt
#
# COUNT (default 6) runs of each; $BENCH_DATA as in bench/run.sh, else the decoder's small test pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
count=${COUNT:-6}
data=$(pwd)/${BENCH_DATA:-data/bench}
case ${BENCH_DATA:-} in /*) data=$BENCH_DATA ;; esac
glob=$(pwd)/stages/jpeg/testdata/*.jpg
[ -d "$data/even" ] && glob=$data/even/*/*.jpg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go test -c -o "$work/jpeg.test" ./stages/jpeg
if cc -O2 -o "$work/cdecode" bench/jpeg/cdecode.c -ljpeg 2>/dev/null; then
  for f in $glob; do echo "$f 0 0 1 1"; done >"$work/list"
fi
for _ in $(seq "$count"); do
  (cd stages/jpeg && JPEG_BENCH=$glob "$work/jpeg.test" -test.run '^$' -test.bench '^Benchmark(Whole|Crop|CropIndex|StandardLibrary)$' -test.benchtime 3x)
  if [ -f "$work/list" ]; then
    n=$(wc -l <"$work/list")
    echo whole | "$work/cdecode" "$work/list" | awk -v n="$n" '{printf "BenchmarkWholeLibjpegTurbo \t%d\t%.0f ns/op\n", 1, $1 * 1e6 * n}'
  fi
done | awk '!/^(goos|goarch|pkg|cpu|PASS|ok)/ || !seen[$1]++'
go test -run '^$' -count "$count" -benchtime 0.2s -bench '^Benchmark(Floats|Bytes|Copy)$' ./stages/resize
go test -run '^$' -count "$count" -benchtime 0.2s -bench '^BenchmarkCollateRow$' ./stages
go test -run '^$' -count "$count" -benchtime 2000000x -bench '^BenchmarkHandOver$' ./graph
go test -run '^$' -count "$count" -benchtime 3000000x -bench '^BenchmarkRows$' ./sources
