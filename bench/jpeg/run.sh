#!/bin/sh
# Measures package jpeg against libjpeg-turbo: bench/jpeg/run.sh [WORK_DIR] [flags of drive]
#
# Needs Go, a C compiler, libjpeg-turbo's headers (libjpeg62-turbo-dev), jpegtran (libjpeg-turbo-progs) and Python with
# Pillow and numpy; for the pictures, once, apt-get download and 227 MB. WORK_DIR (default data/bench-jpeg, which git
# ignores) keeps them. On Linux everything is bound to one CPU, CPU=n chooses which.
set -e
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
work=${1:-data/bench-jpeg}
[ $# -gt 0 ] && shift
mkdir -p "$work/bin"
if [ ! -d "$work/pictures/large_prog" ]; then
	mkdir -p "$work/deb" "$work/wallpapers"
	(cd "$work/deb" && apt-get download gnome-backgrounds mate-backgrounds lomiri-wallpapers-16.04 lomiri-wallpapers-20.04 \
		plasma-workspace-wallpapers ukui-wallpapers sway-backgrounds)
	for f in "$work"/deb/*.deb; do dpkg -x "$f" "$work/wallpapers"; done
	${PYTHON:-python3} bench/jpeg/pictures.py "$work/wallpapers" "$work/pictures"
fi
cc -O2 -o "$work/bin/cdecode" bench/jpeg/cdecode.c -ljpeg
go build -o "$work/bin/godecode" ./bench/jpeg/godecode
go build -tags noasm -o "$work/bin/godecode-noasm" ./bench/jpeg/godecode
go build -o "$work/bin/drive" ./bench/jpeg/drive
bind=
command -v taskset >/dev/null && bind="taskset -c ${CPU:-0}"
$bind "$work/bin/drive" -c "$work/bin/cdecode" -go "$work/bin/godecode" -noasm "$work/bin/godecode-noasm" "$@" "$work/pictures"
