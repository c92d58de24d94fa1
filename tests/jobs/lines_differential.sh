#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lines_differential.sh PROGRAM KIND: lines_differential.py in a folder of its own.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

for needed in python3 mawk; do
  command -v "$needed" >where || {
    echo "$needed is not here: install it"
    exit 77
  }
done
date --version 2>err | grep -q GNU || {
  echo 'date is not that of GNU'
  exit 77
}
if ! PYTHONDONTWRITEBYTECODE=1 python3 "$here/lines_differential.py" "$program" "$case"; then
  # What it differs about is in the file.
  head -c 4000 "$case"-*
  exit 1
fi
