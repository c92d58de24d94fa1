#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# self_test.sh: the checks must find every mistake that was made on purpose in broken/, and nothing else there.
set -euo pipefail
cd "$(dirname "$0")"
found=$(
  ./layers.sh broken broken/layers.txt 0 && echo 'layers.sh passed'
  ./cycles.sh broken && echo 'cycles.sh passed'
  ./names.sh broken && echo 'names.sh passed'
  ./includes.sh broken && echo 'includes.sh passed'
  ./words.sh broken 16 && echo 'words.sh passed'
) || true
diff -u --label expected broken/expected.txt --label found - <<<"$found"
