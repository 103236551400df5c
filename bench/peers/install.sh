#!/usr/bin/env bash
# Installs the peers into a folder of their own: bench/peers/install.sh DIR
#
# Debian's packages are unpacked there, not installed; the others come from the Python registry into virtual
# environments. What cannot be had within its time is left out: DIR/state/NAME says "ok" or why not. A second run tries
# only what is missing. Nothing outside DIR changes. About 9 GB: the registry's torch comes with the CUDA libraries.
set -uo pipefail
dir=$(mkdir -p "$1/state" && cd "$1" && pwd)
python=${PYTHON:-python3}
log=$dir/install.log

# peer NAME SECONDS CHECK COMMAND...: runs COMMAND, if that has not been done, then CHECK decides.
peer() {
  local name=$1 limit=$2 check=$3 rc said
  shift 3
  [ "$(cat "$dir/state/$name" 2>/dev/null)" != ok ] || return
  echo "installing $name"
  timeout "$limit" "$@" >>"$log" 2>&1
  rc=$?
  if [ $rc = 124 ]; then
    echo "could not be installed within $limit s" >"$dir/state/$name"
  elif ! said=$(eval "$check" 2>&1); then
    { grep -h '^ *[A-Za-z]*Error: ' "$log" | tail -n 1 | sed 's,^ *,,'; echo "$said" | tail -n 1; } | paste -sd ';' >"$dir/state/$name"
  else
    echo ok >"$dir/state/$name"
  fi
}

# venv FOLDER PACKAGE...
venv() {
  [ -x "$dir/$1/bin/python" ] || "$python" -m venv "$dir/$1" || return
  "$dir/$1/bin/python" -m pip install --disable-pip-version-check -q "${@:2}"
}

debian() {
  command -v apt-get >/dev/null || return
  mkdir -p "$dir/deb" && cd "$dir/deb" || return
  apt-get update -qq
  # shellcheck disable=SC2046 # a list of names
  apt-get download $(apt-get -s install --no-install-recommends python3-torch python3-torchvision python3-ffcv python3-opencv python3-numba \
    | awk '/^Inst/ {print $2}')
  for f in *.deb; do dpkg -x "$f" "$dir/debian"; done
}

libs=$dir/debian/usr/lib/x86_64-linux-gnu
in_debian="LD_LIBRARY_PATH=$libs:$dir/debian/lib/x86_64-linux-gnu:$libs/openblas-pthread:$libs/blas:$libs/lapack:$dir/debian/usr/lib \
  PYTHONPATH=$dir/debian/usr/lib/python3/dist-packages NUMBA_CACHE_DIR=$dir /usr/bin/python3 -c"
export -f venv debian
export dir python

peer torch 1200 "$dir/python/bin/python -c 'import torch, torchvision'" bash -c 'venv python torch torchvision numpy pillow'
peer torch-debian 600 "$in_debian 'import torch, torchvision'" bash -c debian
peer ffcv 10 "$in_debian 'import ffcv.loader'" true
peer ffcv-registry 300 "$dir/ffcv/bin/python -c 'import ffcv.loader'" bash -c 'venv ffcv ffcv'
peer spdl 300 "$dir/python/bin/python -c 'import spdl.pipeline'" bash -c 'venv python spdl'
peer grain 300 "$dir/python/bin/python -c 'import grain'" bash -c 'venv python grain'
peer dali 600 "$dir/dali/bin/python -c 'import nvidia.dali.fn'" bash -c 'venv dali nvidia-dali-cuda120 numpy'
peer tf.data 600 "$dir/tensorflow/bin/python -c 'import tensorflow'" bash -c 'venv tensorflow tensorflow-cpu'

for f in "$dir"/state/*; do echo "peer ${f##*/}: $(cat "$f")"; done
