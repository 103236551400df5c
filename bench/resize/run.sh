#!/bin/sh
# Measures package resize against Pillow, in turn: bench/resize/run.sh [ROUNDS]
#
# Needs Go and a Python (PYTHON) with Pillow and numpy. Prints the median microseconds of CPU of one picture, the smallest
# and the largest, and the ratio to Pillow's median of the same result.
set -e
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/avx2" ./bench/resize
go build -tags noasm -o "$work/go" ./bench/resize
py=${PYTHON:-python3}
"$py" -c 'import PIL, sys; print("Pillow", PIL.__version__, "Python", sys.version.split()[0])'
for round in $(seq "${1:-5}"); do
	for size in "500 375 2000" "2000 1500 200"; do
		name=$(echo "$size" | sed 's/ /x/;s/ .*//')
		for mode in bytes floats; do
			echo "$name $mode pillow $("$py" bench/resize/pillow.py $mode $size)"
			for form in avx2 go; do
				echo "$name $mode $form $("$work/$form" $mode $size)"
			done
		done
		echo "$name lookup avx2 $("$work/avx2" lookup $size)"
		echo "$name copy limit $("$work/avx2" copy $size)"
	done
done | "$py" -c '
import statistics, sys
rows = {}
for line in sys.stdin:
    *key, v = line.split()
    rows.setdefault(tuple(key), []).append(float(v))
for (size, mode, form), v in rows.items():
    m = statistics.median(v)
    peer = rows.get((size, mode if mode == "bytes" else "floats", "pillow"))
    print(f"{size:10} {mode:7} {form:7} {m:8.1f} us  ({min(v):.1f} to {max(v):.1f})  {statistics.median(peer) / m:6.2f}")
'
