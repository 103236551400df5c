#!/usr/bin/env bash
# Measures Penstock and its peers in turn: bench/run.sh [--quick | --smoke | --render | --prepare] [WORKLOAD...]
#
# Installs the peers into bench/.peers (or $BENCH_PEERS), makes the pictures in data/bench (or $BENCH_DATA), builds our
# side, runs all in turn, checks that the outputs agree, and writes bench/results/*.json, docs/benchmarks.md and its
# plots. Workloads: pictures large slow tiny paths turnaround first cost; without any, all. It wants a quiet machine, and
# says how much other programs ran.
#
# --quick: fewer pairs and settings. --smoke: no peers, small data, nothing is kept; CI runs it. --render: only writes the
# page and the plots again. --prepare: installs, makes the data and ends.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=${BENCH_PEERS:-bench/.peers}
data=${BENCH_DATA:-data/bench}
flags=() workloads=() prepare=
for a in "$@"; do
  case $a in
    --quick | --smoke | --render) flags+=("${a#-}") ;;
    --prepare) prepare=1 ;;
    -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) workloads+=("$a") ;;
  esac
done
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/" ./bench/ours ./bench/drive
if [[ " ${flags[*]} " != *" -render "* && " ${flags[*]} " != *" -smoke "* ]]; then
  bash bench/peers/install.sh "$peers"
  if [ ! -f "$data/made" ]; then
    mkdir -p "$data/deb" "$data/wallpapers"
    (cd "$data/deb" && apt-get download gnome-backgrounds mate-backgrounds lomiri-wallpapers-16.04 lomiri-wallpapers-20.04 \
      plasma-workspace-wallpapers ukui-wallpapers sway-backgrounds)
    for f in "$data"/deb/*.deb; do dpkg -x "$f" "$data/wallpapers"; done
    "$peers/python/bin/python" bench/peers/data.py "$data/wallpapers" "$data"
  fi
  if cc -O3 -march=native -ffast-math -o "$bin/picture" bench/peers/picture.c -ljpeg -lm; then flags+=(-c "$bin/picture"); fi
fi
[ -z "$prepare" ] || exit 0
"$bin/drive" -ours "$bin/ours" -peers "$peers" -data "$data" "${flags[@]}" "${workloads[@]}"
