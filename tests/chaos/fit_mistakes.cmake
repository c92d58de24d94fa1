# SPDX-License-Identifier: Apache-2.0
# cmake -P fit_mistakes.cmake: fails if a mistake no longer fits its source. The builds that have them are not made every day.
include(${CMAKE_CURRENT_LIST_DIR}/mistakes.cmake)
file(GLOB paths ${CMAKE_CURRENT_LIST_DIR}/mistakes/*.txt)
foreach(path IN LISTS paths)
  cmake_path(GET path STEM name)
  file(READ ${path} text)
  string(REGEX MATCH "\nFILE ([^\n]+)" ignored "${text}")
  penstock_edit(${name} "${text}" ${CMAKE_CURRENT_LIST_DIR}/../../src/${CMAKE_MATCH_1} wrong)
endforeach()
list(LENGTH paths count)
message(STATUS "${count} mistakes fit")
