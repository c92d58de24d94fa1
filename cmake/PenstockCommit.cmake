# SPDX-License-Identifier: Apache-2.0
# Run at each build (cmake -P): writes to FILE the C++ of penstock::cli::commit(), if it would be another than is there. A
# tag changes nothing: a release is the same to the byte before and after it gets one.
execute_process(COMMAND git -c safe.directory=${SOURCE} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE problem)
if(problem)
  set(commit "")
endif()
set(text "#include \"programs/command/program.hpp\"\nstd::string penstock::cli::commit() {\n  return \"${commit}\";\n}\n")
set(before "")
if(EXISTS ${FILE})
  file(READ ${FILE} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${FILE} "${text}")
endif()
