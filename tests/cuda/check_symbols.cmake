# SPDX-License-Identifier: Apache-2.0
# cmake -DNM=... -DOBJECTS=archive-or-objects -DRUNTIME=libcudart_static.a -P check_symbols.cmake
#
# Fails if OBJECTS import the legacy-default-stream variant of any CUDA call that has a per-thread variant. Which calls
# have one is read from the runtime itself, so that a new toolkit needs no new list.
cmake_minimum_required(VERSION 3.25)

foreach(input NM OBJECTS RUNTIME)
  if(NOT ${input})
    message(FATAL_ERROR "Give -D${input}=...")
  endif()
endforeach()

function(symbols kind file result)
  execute_process(COMMAND ${NM} ${kind} ${file} OUTPUT_VARIABLE listing ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${NM} cannot read ${file}.")
  endif()
  string(REGEX MATCHALL "[_a-zA-Z0-9]+\n" names "${listing}")
  list(TRANSFORM names STRIP)
  set(${result} ${names} PARENT_SCOPE)
endfunction()

symbols(--defined-only ${RUNTIME} offered)
list(FILTER offered INCLUDE REGEX "^cuda.*_pt[sd][sz]$")
list(LENGTH offered variants)
if(variants LESS 50)
  message(FATAL_ERROR "${RUNTIME} offers only ${variants} per-thread calls: is it the CUDA runtime?")
endif()
list(TRANSFORM offered REPLACE "_pt[sd][sz]$" "" OUTPUT_VARIABLE plain)

symbols(--undefined-only "${OBJECTS}" imported)
set(wrong "")
set(right 0)
foreach(name IN LISTS imported)
  if(name IN_LIST plain)
    list(APPEND wrong ${name})
  elseif(name IN_LIST offered)
    math(EXPR right "${right} + 1")
  endif()
endforeach()
if(wrong)
  list(REMOVE_DUPLICATES wrong)
  message(FATAL_ERROR "Compiled for the legacy default stream: ${wrong}. Compile with --default-stream per-thread.")
endif()
if(right EQUAL 0)
  message(FATAL_ERROR "No per-thread call is imported at all: these are not the objects that were meant.")
endif()
message(STATUS "${right} imports, all of them per-thread.")
