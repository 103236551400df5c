# What run and long share.

# step NAME runs the function NAME, with a headline and its time.
step() {
  local began=$SECONDS rc=0
  echo "=== $1"
  "$1" || rc=$?
  if [ "$rc" -ne 0 ]; then
    failed+=("$1")
    echo "--- $1 failed after $((SECONDS - began)) s"
  else
    echo "--- $1: $((SECONDS - began)) s"
  fi
}

# steps NAME... -- [WANTED...] runs all steps, or the wanted ones, and ends the script.
steps() {
  local all=() wanted=()
  while [ "$1" != -- ]; do
    all+=("$1")
    shift
  done
  shift
  wanted=("$@")
  [ "${#wanted[@]}" -gt 0 ] || wanted=("${all[@]}")
  failed=()
  for s in "${wanted[@]}"; do
    case " ${all[*]} " in
      *" $s "*) step "$s" ;;
      *)
        echo "there is no step $s; there are: ${all[*]}"
        exit 2
        ;;
    esac
  done
  if [ "${#failed[@]}" -gt 0 ]; then
    echo "FAIL $0: ${failed[*]} (${SECONDS} s in all)"
    exit 1
  fi
  echo "ok   $0: ${#wanted[@]} steps (${SECONDS} s in all)"
}

# peers PACKAGE:TEST... installs other programs that some tests compare with, where TEST fails. It never fails itself.
peers() {
  local p package
  for p in "$@"; do
    bash -c "${p#*:}" >/dev/null 2>&1 && continue
    package=${p%%:*}
    if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
      echo "missing: $package (needs apt-get and root)"
      continue
    fi
    [ -n "${updated:-}" ] || apt-get update -qq >/dev/null 2>&1
    updated=1
    if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=120 "$package" >/dev/null 2>&1; then
      echo "installed $package"
    else
      echo "missing: $package (could not be installed)"
    fi
  done
}

# fuzz_all SECONDS shares the time among all fuzz targets of the repository, at least 1 second each.
fuzz_all() {
  local targets each ok=0 dir name said
  targets=$(git grep -E '^func Fuzz[A-Za-z0-9_]*\(f \*testing\.F\)' -- '*_test.go' | sed -E 's/^(.*)\/[^/]*:func (Fuzz[A-Za-z0-9_]*).*/\1 \2/' | sort -u)
  said=$(mktemp)
  each=$(($1 / $(wc -l <<<"$targets")))
  [ "$each" -ge 1 ] || each=1
  while read -r dir name; do
    echo "$dir $name, ${each} s"
    go test -run '^$' -fuzz "^$name\$" -fuzztime "${each}s" -fuzzminimizetime 1s "./$dir" >"$said" 2>&1 && tail -n 2 "$said" || { cat "$said"; ok=1; }
  done <<<"$targets"
  rm -f "$said"
  return "$ok"
}
