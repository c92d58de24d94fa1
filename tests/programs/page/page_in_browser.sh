#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: page_in_browser.sh PAGE_OF CASE
# Opens pages made of tests/programs/page/samples in a Chromium without a window. Exit code 77 where there is none, or no node.
set -euo pipefail
for browser in chromium chromium-browser google-chrome ''; do
  if [[ -n $browser ]] && command -v "$browser" >/dev/null; then break; fi
done
if [[ -z $browser ]] || ! command -v node >/dev/null; then
  echo 'skipped: this needs chromium and node'
  exit 77
fi
exec node "$(dirname "$0")/page_in_browser.mjs" "$browser" "$@"
