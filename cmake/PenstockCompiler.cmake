# SPDX-License-Identifier: Apache-2.0
# One interface target carries what every object of the project is compiled with; users inherit only the language level.
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(penstock_private_flags INTERFACE)
# Private headers, and those of kernels/. A project that adds this one as a subdirectory gets neither.
target_include_directories(penstock_private_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/include)
target_compile_options(penstock_private_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # It warns of an overlap in "literal" + string that cannot be (GCC PR 105651).
  target_compile_options(penstock_private_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# Sources that are compiled together see each other's private names. Compiled apart, as those of the engine in a release build
# and all of them for clang-tidy, they are warned of.
target_compile_options(penstock_private_flags INTERFACE
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-shadow>"
  "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>")
if(PENSTOCK_FUZZ)
  # Fuzzed code counts its branches.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
# A warning fails a check of the project, and no build of a user: a newer compiler has new warnings.
set(PENSTOCK_WERROR_FLAG "")
# With a sanitizer GCC 12 warns of what is right, as members of optional values that are "maybe uninitialized".
if(PENSTOCK_WERROR AND PENSTOCK_SANITIZE STREQUAL "")
  set(PENSTOCK_WERROR_FLAG -Werror)
endif()
target_compile_options(penstock_private_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${PENSTOCK_WERROR_FLAG}>)

if(PENSTOCK_SANITIZE STREQUAL "address")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer> -g1)
  add_link_options(-fsanitize=address,undefined)
  set(PENSTOCK_TEST_ENVIRONMENT LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0)
elseif(PENSTOCK_SANITIZE STREQUAL "thread")
  # tests/support/tsan.supp says what it gets wrong about code that is not ours.
  # It names functions as -O1 inlines them.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=thread> $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer> -g1)
  add_link_options(-fsanitize=thread)
  # What every test of such a build runs with.
  set(PENSTOCK_TEST_ENVIRONMENT
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp)
elseif(PENSTOCK_SANITIZE MATCHES "^(chaos|simulation)$")
  # The thread sanitizer's calls at each atomic operation, answered by a runtime that delays threads as a seed says, or runs fibers
  # in their place.
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "The chaos and simulation builds take GCC: their runtimes answer the calls that GCC makes.")
  endif()
  set(chaos ${PROJECT_SOURCE_DIR}/tests/chaos)
  if(PENSTOCK_SANITIZE STREQUAL "chaos")
    add_library(penstock_chaos_runtime STATIC ${chaos}/delays.cpp ${chaos}/runtime.cpp ${chaos}/waits.cpp)
  else()
    set(simulation ${PROJECT_SOURCE_DIR}/tests/simulation)
    add_library(penstock_chaos_runtime STATIC ${chaos}/runtime.cpp ${simulation}/fiber.cpp ${simulation}/run_memory.cpp
      ${simulation}/schedule.cpp ${simulation}/scheduler.cpp ${simulation}/simulated_run.cpp ${simulation}/threads.cpp ${simulation}/waits.cpp)
    # Where the library names oneTBB, a graph of fibers takes its place.
    include_directories(BEFORE ${simulation}/frame)
    # As one source: what an atomic operation calls is a few instructions, which are inlined.
    set_target_properties(penstock_chaos_runtime PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
  target_compile_features(penstock_chaos_runtime PRIVATE cxx_std_20)
  target_compile_options(penstock_chaos_runtime PRIVATE -O2 -Wall -Wextra ${PENSTOCK_WERROR_FLAG})
  target_include_directories(penstock_chaos_runtime PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(penstock_chaos_runtime PRIVATE ${CMAKE_DL_LIBS})
  # Not the runtime: it would call itself.
  target_compile_options(penstock_private_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=thread>
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan> "$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param tsan-instrument-func-entry-exit=0>"
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  target_link_libraries(penstock_private_flags INTERFACE penstock_chaos_runtime)
elseif(NOT PENSTOCK_SANITIZE STREQUAL "")
  message(FATAL_ERROR "PENSTOCK_SANITIZE is '${PENSTOCK_SANITIZE}': use address, thread, chaos, simulation or leave it empty.")
endif()

# penstock_without_sanitizer(TARGET): for what is loaded into other programs, or is run with such a library. A sanitizer's runtime
# must be the first that is loaded.
function(penstock_without_sanitizer target)
  if(NOT PENSTOCK_SANITIZE STREQUAL "")
    set_target_properties(${target} PROPERTIES COMPILE_OPTIONS "" LINK_OPTIONS "")
  endif()
endfunction()
