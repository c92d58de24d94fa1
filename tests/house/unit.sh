#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# unit.sh UNIT: the systemd unit restricts its service, as systemd-analyze sees it. 77 where that is not installed.
set -euo pipefail
unit=$1
command -v systemd-analyze >/dev/null || { echo 'systemd-analyze is not installed (systemd)' && exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$unit" "$scratch/penstock@lines.service"
# In tenths: docs/operation.md says 1.9.
systemd-analyze security --no-pager --offline=true --threshold=19 "$scratch/penstock@lines.service" >"$scratch/said" || {
  cat "$scratch/said"
  exit 1
}
tail -n 1 "$scratch/said"
