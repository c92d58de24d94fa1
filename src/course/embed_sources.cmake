# SPDX-License-Identifier: Apache-2.0
# cmake -D LIST=experiments.txt -D ROOT=folder -D OUTPUT=file.cpp -P embed_sources.cmake
#
# Writes source_rows() of course/sources.hpp: the experiments of LIST, and the text of their files. A line of LIST is
# "experiment: file file", seen from its own folder.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET LIST PARENT_PATH folder)
file(STRINGS ${LIST} lines REGEX "^[a-z]")
set(texts "")
set(rows "")
set(known "")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^([a-z-]+): ([a-z0-9_./ ]+)$")
    message(FATAL_ERROR "${LIST}: '${line}' is not 'experiment: file file'.")
  endif()
  set(experiment ${CMAKE_MATCH_1})
  string(REPLACE " " ";" files "${CMAKE_MATCH_2}")
  foreach(file IN LISTS files)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${folder} NORMALIZE)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${ROOT} OUTPUT_VARIABLE path)
    string(MAKE_C_IDENTIFIER ${path} name)
    if(NOT name IN_LIST known)
      list(APPEND known ${name})
      file(READ ${file} text)
      string(APPEND texts "constexpr SourceFile ${name}{\"${path}\", R\"penstock(${text})penstock\"};\n")
    endif()
    string(APPEND rows "    {\"${experiment}\", ${name}},\n")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "// Made by embed_sources.cmake.
#include \"course/sources.hpp\"

namespace penstock::lab {
namespace {

${texts}
constexpr SourceRow rows[] = {
${rows}};

}  // namespace

std::span<SourceRow const> source_rows() noexcept { return rows; }

}  // namespace penstock::lab
")
