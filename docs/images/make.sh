#!/usr/bin/env bash
# Makes the pictures of the page in this folder. It needs chromium.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go test ./cmd/penstock -count 1 -run ThePageOfARun -page "$dir/page.html"
shoot() { # file, scheme (0 dark, 1 light), width, height, name
  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$dir/$5" --hide-scrollbars \
    --blink-settings=preferredColorScheme="$2" --window-size="$3,$4" --screenshot="docs/images/$5.png" "file://$1" 2>/dev/null
}
shoot "$dir/page.html" 1 1280 2240 report-light
shoot "$dir/page.html" 0 1280 2240 report-dark
