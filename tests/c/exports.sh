#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exports.sh LIBRARY NM HEADER: LIBRARY exports the functions that HEADER declares, each with a version, and nothing else.
set -euo pipefail
export LC_ALL=C
library=$1 nm=$2 header=$3
declared=$(grep -oP '^PENSTOCK_API .*?\Kpenstock_\w+(?=\()' "$header" | sort)
(($(wc -w <<<"$declared") >= 36)) || { echo "$header: has too few functions to be right" && exit 1; }
exported=$("$nm" -D --defined-only "$library" | awk '$2 == "A" && $3 ~ /^PENSTOCK_[0-9.]+$/ { next } { print $3 }' | sort)
diff --label header --label library <(sed -E 's/$/@@PENSTOCK_0.2/' <<<"$declared") - <<<"$exported"
