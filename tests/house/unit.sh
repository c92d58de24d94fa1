#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# unit.sh PAGE: the systemd unit that the page shows restricts its service, as systemd-analyze sees it. 77 where that is not installed.
set -euo pipefail
page=$1
command -v systemd-analyze >/dev/null || { echo 'systemd-analyze is not installed (systemd)' && exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
awk '/^```ini$/ { within = 1; next } /^```$/ { within = 0 } within' "$page" >"$scratch/lines.service"
grep -q '^ExecStart=' "$scratch/lines.service" || { echo "$page shows no unit" && exit 1; }
# In tenths: the page says 1.9.
systemd-analyze security --no-pager --offline=true --threshold=19 "$scratch/lines.service" >"$scratch/said" || {
  cat "$scratch/said"
  exit 1
}
tail -n 1 "$scratch/said"
