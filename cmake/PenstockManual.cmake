# SPDX-License-Identifier: Apache-2.0
# cmake -D PROGRAM=... -D FOLDER=... [-D LIBRARIES=...] [-D EMULATOR=...] -P PenstockManual.cmake: has the program write its manual
# into the folder. LIBRARIES are folders with colons between them in which it was linked: a program that is built where these are
# no folders of the system's finds them by its run path, and what they need in turn it does not. EMULATOR is a command, as a list,
# that runs programs of another machine. If the program cannot run, there is no manual, and the build goes on.
file(REMOVE_RECURSE ${FOLDER})
set(folders "${LIBRARIES}")
if(NOT "$ENV{LD_LIBRARY_PATH}" STREQUAL "")
  string(APPEND folders ":$ENV{LD_LIBRARY_PATH}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${folders} ${EMULATOR} ${PROGRAM} --write-manual ${FOLDER}
  RESULT_VARIABLE result ERROR_VARIABLE problem)
if(NOT result EQUAL 0)
  message(WARNING "${PROGRAM} could not be run here to write its man pages, so none are installed (${result}): ${problem}"
                  "Set LD_LIBRARY_PATH to the folders of its libraries and build again, or run `penstock --write-manual FOLDER` "
                  "where it is installed.")
  file(REMOVE_RECURSE ${FOLDER})
endif()
file(TOUCH ${FOLDER}.written)
