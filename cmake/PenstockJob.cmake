# SPDX-License-Identifier: Apache-2.0
# penstock_add_job(NAME FILES...): the programs NAME and NAME-legacy of a job, each in the flavour of its name and both from these
# files, of which one has a main() that calls penstock::run_job. `NAME compare` starts NAME-legacy, so both belong into one
# folder. Where penstock was built without the legacy flavour, there is only NAME.
function(penstock_add_job name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE penstock::jobs penstock::penstock)
  if(TARGET penstock::jobs_legacy)
    add_executable(${name}-legacy ${ARGN})
    target_link_libraries(${name}-legacy PRIVATE penstock::jobs_legacy penstock::legacy)
  endif()
endfunction()
