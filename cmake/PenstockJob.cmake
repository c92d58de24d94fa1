# SPDX-License-Identifier: Apache-2.0
# penstock_add_job(NAME FILES...) adds the programs NAME (per-thread) and NAME-legacy (legacy) of a job. Both are built from FILES,
# one of which has a main() that calls penstock::run_job. `NAME compare` starts both, so install them into one folder. If penstock
# was built without the legacy flavour, there is only NAME.
function(penstock_add_job name)
  if(NOT TARGET penstock::jobs)
    message(FATAL_ERROR "penstock_add_job(${name}): this penstock has no programs for jobs: set PENSTOCK_TOOLS to ON before it is added, or install one that was built so.")
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE penstock::jobs penstock::penstock)
  if(TARGET penstock::jobs_legacy)
    add_executable(${name}-legacy ${ARGN})
    target_link_libraries(${name}-legacy PRIVATE penstock::jobs_legacy penstock::legacy)
  endif()
endfunction()
