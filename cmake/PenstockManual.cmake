# SPDX-License-Identifier: Apache-2.0
# cmake -D PROGRAM=... -D FOLDER=... -P PenstockManual.cmake: has the program write its manual into the folder. If it
# cannot run here, there is none, and the build goes on.
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${PROGRAM} --write-manual ${FOLDER} RESULT_VARIABLE result ERROR_VARIABLE problem)
if(NOT result EQUAL 0)
  message(WARNING "${PROGRAM} cannot write its manual, so none is installed (${result}): ${problem}")
  file(REMOVE_RECURSE ${FOLDER})
endif()
file(TOUCH ${FOLDER}.written)
