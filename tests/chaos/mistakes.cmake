# SPDX-License-Identifier: Apache-2.0
# Programs that are penstock_chaos with one seeded mistake each, as mistakes/NAME.txt says:
#
#   A sentence.
#   FILE layer/file      what is edited, below src/penstock
#   COMPILE files...     of a header: the sources that see the edited one, below src/penstock or, if it begins with
#                        tests/, below the project; else it is FILE itself
#   RIGHT, lines, WRONG, lines, as often as needed, END
#
# Each RIGHT must be in the file once: a mistake that no longer fits its source stops the configuration.

# penstock_edit(NAME SOURCE RESULT): the text of the source with the mistake in it.
function(penstock_edit name text_of_mistake source result)
  file(READ ${source} text)
  set(rest "${text_of_mistake}")
  string(FIND "${rest}" "\nRIGHT\n" at)
  while(NOT at EQUAL -1)
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(FIND "${rest}" "\nWRONG\n" middle)
    math(EXPR length "${middle} - 6")
    string(SUBSTRING "${rest}" 7 ${length} right)
    math(EXPR middle "${middle} + 6")
    string(SUBSTRING "${rest}" ${middle} -1 rest)
    string(FIND "${rest}" "\nRIGHT\n" at)
    if(at EQUAL -1)
      string(FIND "${rest}" "\nEND\n" end)
    else()
      set(end ${at})
    endif()
    string(SUBSTRING "${rest}" 1 ${end} wrong)
    string(FIND "${text}" "${right}" first)
    string(FIND "${text}" "${right}" last REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL last)
      message(FATAL_ERROR "Mistake '${name}' no longer fits ${source}: adapt tests/chaos/mistakes/${name}.txt. "
                          "This must be in the file once:\n${right}")
    endif()
    string(REPLACE "${right}" "${wrong}" text "${text}")
  endwhile()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(penstock_add_mistake path)
  set(source_folder ${PROJECT_SOURCE_DIR}/src/penstock)
  cmake_path(GET path STEM name)
  file(READ ${path} text)
  string(REGEX MATCH "\nFILE ([^\n]+)" ignored "${text}")
  set(edited ${CMAKE_MATCH_1})
  set(compiled "")
  if(text MATCHES "\nCOMPILE ([^\n]+)")
    string(REPLACE " " ";" compiled "${CMAKE_MATCH_1}")
    list(TRANSFORM compiled PREPEND src/penstock/)
    list(TRANSFORM compiled REPLACE "^src/penstock/tests/" tests/)
    list(TRANSFORM compiled PREPEND ${PROJECT_SOURCE_DIR}/)
  endif()
  penstock_edit(${name} "${text}" ${source_folder}/${edited} wrong)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path} ${source_folder}/${edited})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/mistakes/${name})
  set(old "")
  if(EXISTS ${folder}/penstock/${edited})
    file(READ ${folder}/penstock/${edited} old)
  endif()
  if(NOT old STREQUAL wrong)
    file(WRITE ${folder}/penstock/${edited} "${wrong}")
  endif()
  if(NOT compiled)
    set(compiled ${folder}/penstock/${edited})
  endif()
  # The linker takes these and leaves out those of the libraries.
  add_executable(penstock_chaos_with_${name} EXCLUDE_FROM_ALL ${compiled} $<TARGET_OBJECTS:penstock_chaos_main>)
  target_include_directories(penstock_chaos_with_${name} BEFORE PRIVATE ${folder})
  target_link_libraries(penstock_chaos_with_${name} PRIVATE penstock_chaos_scenarios)
  add_dependencies(penstock_chaos_mistakes penstock_chaos_with_${name})
endfunction()

add_custom_target(penstock_chaos_mistakes)
file(GLOB mistakes CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mistakes/*.txt)
foreach(mistake IN LISTS mistakes)
  penstock_add_mistake(${mistake})
endforeach()
