#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packets_differential.sh PROGRAM KIND: packets_differential.py in a folder of its own.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

command -v python3 >/dev/null || {
  echo 'python3 is not here: install it'
  exit 77
}
PYTHONDONTWRITEBYTECODE=1 python3 "$here/packets_differential.py" "$program" "$case"
