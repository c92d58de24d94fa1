# SPDX-License-Identifier: Apache-2.0
# cmake -D WEB=folder -D UPLOT=folder -D STYLES=files -D SCRIPTS=files -D OUTPUT=file.cpp -P assemble.cmake
#
# Puts page.html, styles, scripts and uPlot together to one page, and writes it as the C++ source of page_text(). The
# policy in the page names each style and script by its hash, so that a browser runs these and no others.
cmake_minimum_required(VERSION 3.25)

# base64_of_hex(VARIABLE HEX): what a policy writes a hash in.
function(base64_of_hex result hex)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  string(LENGTH ${hex} length)
  math(EXPR last "${length} - 1")
  foreach(at RANGE 0 ${last} 6)
    string(SUBSTRING "${hex}" ${at} 6 three_bytes)
    string(LENGTH ${three_bytes} digits)
    string(SUBSTRING "${three_bytes}0000" 0 6 three_bytes)
    math(EXPR count "${digits} / 2 + 1")
    foreach(shift IN ITEMS 18 12 6 0)
      if(count GREATER 0)
        math(EXPR index "(0x${three_bytes} >> ${shift}) & 63")
        string(SUBSTRING ${letters} ${index} 1 letter)
      else()
        set(letter =)
      endif()
      string(APPEND text ${letter})
      math(EXPR count "${count} - 1")
    endforeach()
  endforeach()
  set(${result} ${text} PARENT_SCOPE)
endfunction()

# inline_files(TEXT HASHES ELEMENT files...): each file as an element of its own, without its licence line.
function(inline_files text hashes element)
  set(all "")
  set(policy "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} content)
    if(content MATCHES "</[sS][cC][rR][iI][pP][tT]|</[sS][tT][yY][lL][eE]|<!--|\r|@[A-Z]+@")
      message(FATAL_ERROR "${file} cannot stand inside a page: it has '${CMAKE_MATCH_0}' in it.")
    endif()
    string(SHA256 hash "${content}")
    base64_of_hex(hash ${hash})
    string(APPEND all "<${element}>${content}</${element}>\n")
    string(APPEND policy " 'sha256-${hash}'")
  endforeach()
  set(${text} "${all}" PARENT_SCOPE)
  set(${hashes} "${policy}" PARENT_SCOPE)
endfunction()

list(TRANSFORM STYLES PREPEND ${WEB}/)
list(TRANSFORM SCRIPTS PREPEND ${WEB}/)
inline_files(styles style_hashes style ${UPLOT}/uPlot.min.css ${STYLES})
inline_files(scripts script_hashes script ${UPLOT}/uPlot.iife.min.js ${SCRIPTS})
file(READ ${UPLOT}/LICENSE licence)
file(READ ${WEB}/page.html page)
string(REPLACE @POLICY@ "default-src 'none'; img-src data:; style-src${style_hashes}; script-src${script_hashes}; \
base-uri 'none'; form-action 'none'" page "${page}")
string(REPLACE @LICENCE@ "${licence}" page "${page}")
string(REPLACE @STYLES@ "${styles}" page "${page}")
string(REPLACE @SCRIPTS@ "${scripts}" page "${page}")

# What is told to the page comes between these.
set(rest "${page}")
foreach(mark IN ITEMS TITLE RESULTS)
  string(FIND "${rest}" "@${mark}@" at)
  if(at LESS 0)
    message(FATAL_ERROR "${WEB}/page.html has no place for @${mark}@.")
  endif()
  string(SUBSTRING "${rest}" 0 ${at} before_${mark})
  string(LENGTH "@${mark}@" length)
  math(EXPR at "${at} + ${length}")
  string(SUBSTRING "${rest}" ${at} -1 rest)
endforeach()
file(WRITE ${OUTPUT} "// Made by assemble.cmake.
#include \"programs/page/results_page.hpp\"

namespace penstock {

PageText page_text() noexcept {
  return {R\"penstock(${before_TITLE})penstock\", R\"penstock(${before_RESULTS})penstock\", R\"penstock(${rest})penstock\"};
}

}  // namespace penstock
")
