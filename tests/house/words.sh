#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# words.sh ROOT [LONGEST]: rules that a search can hold. Prints one line per broken rule and exits 1 if there is one.
set -euo pipefail
export LC_ALL=C
cd "$1"
longest=${2:-300}
broken=0

# files_like ENDINGS FOLDER...: the files there that end so; the mistakes in broken/ are made on purpose.
files_like() {
  local folder
  for folder in "${@:2}"; do
    if [[ -d $folder ]]; then
      find "$folder" -path tests/house/broken -prune -o -type f -regex ".*\.\($1\)" -print
    fi
  done | sort
}
# sources FOLDER...: the C++ and CUDA files there.
sources() {
  files_like 'hpp\|cpp\|cu\|cuh\|h' "$@"
}

# refuse REMEDY PATTERN [UNLESS]: reads paths, looks for PATTERN outside of `//` comments, in files not like UNLESS.
refuse() {
  local path line text
  # Few processes: there are a thousand files.
  while IFS=: read -r path line text; do
    grep -qE "$2" <<<"${text%%//*}" || continue
    echo "$path:$line: $1"
    broken=1
  done < <(grep -vE "${3:-^$}" | xargs -r -d '\n' grep -nHE "$2")
}

plain='^examples/course/[a-z_]*_cuda[.]cu$'  # Programs in plain CUDA, beside those on penstock.
refuse 'only src/engine/cuda and kernels copy; use a StreamRef' '\<cudaMemcpy[A-Za-z0-9]*Async\>' \
  "^(src/engine/cuda|kernels)/|$plain" < <(sources src kernels examples)
refuse 'waits for the whole device; only Device::synchronize and tests may' '\<cudaDeviceSynchronize\>' \
  "^src/engine/cuda/|$plain" < <(sources src kernels examples)
refuse 'names a default stream; only engine/cuda/default_stream.cpp does' '\<cudaStream(Legacy|PerThread)\>' \
  '^src/engine/cuda/default_stream' < <(sources src kernels)
refuse 'may be a launch in stream 0; use launch_kernel' '<<<' < <(sources src kernels)
refuse 'launches by itself; use launch_kernel, which refuses stream 0' '\<cudaLaunch[A-Za-z]*\>' '^kernels/basic/cuda_launch' \
  < <(sources kernels)
# HostTime lets time pass where the clock is slower: nothing is waited for.
refuse 'sleeps; wait for what you wait for, on an EventCount, a latch or a condition variable' \
  '\<(sleep_for|sleep_until|usleep|nanosleep|sleep)[ ]*\(' '^(tests/(chaos|simulation)|src/models/host_keeper.cpp)' < <(sources src kernels tests bench examples)
refuse 'can lose a wake-up in libstdc++ 12 (GCC PR 98033); use an EventCount' '\<(counting|binary)_semaphore\>' \
  < <(sources src kernels tests bench examples)

refuse 'prints; use say() of engine/core/say.hpp, which hands it to the message hook' '\<(stderr|cerr|perror)\>' \
  '^src/(engine/core/messages|programs/|anyprogram/|course/)' < <(sources src)
refuse 'names the program; use tell(), message_of() or title_of() of programs/command/program.hpp' '"[^ "]*penstock(: | (bench|compare|run|try|tune|watch)")' \
  < <(sources src/programs src/anyprogram src/course)
refuse 'is no public header; include one of include/penstock' '#include [<"](engine|observe|models|ingest|egress|records|lease|images|collective|operate|job|kernels|programs|anyprogram|course)/' \
  < <(sources examples tests/house/embed tests/house/bundled)

# GCC (12 to 14 at least) destroys the members of a nested {} twice if a later initializer throws; a named type it gets right.
refuse 'is destroyed twice by GCC if a later initializer throws; write .stages = Stages{...}' '\.stages = \{' < <(sources src examples)

while read -r path; do
  mapfile -t lines <"$path"
  if ((${#lines[@]} > longest)); then
    echo "$path: has ${#lines[@]} lines; split it at $longest"
    broken=1
  fi
  licence='// SPDX-License-Identifier: Apache-2.0'
  if [[ $path == *.css ]]; then licence='/* SPDX-License-Identifier: Apache-2.0 */'; fi
  if [[ ${lines[0]-} != "$licence" ]]; then
    echo "$path: does not begin with the SPDX line"
    broken=1
  fi
  if [[ $path =~ /(detail|utils|util|common|misc|helpers)/ ]]; then
    echo "$path: lies in a folder without an idea of its own; put what is private into the .cpp"
    broken=1
  fi
done < <(files_like 'hpp\|cpp\|cu\|cuh\|h\|css\|js\|mjs' src kernels tests bench examples)
exit $broken
