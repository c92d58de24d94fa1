# SPDX-License-Identifier: Apache-2.0
# penstock_add_layer(NAME SENTENCE "what it adds" DEPENDS layers... FILES files... LINK outside libraries...
#                    [CUDA_FILES files...] [NO_CUDA_FILES files...] [PRIVATE_LINK libraries...] [DIRECTORY folder]
#                    [WHEN variable])
#
# Makes the static library penstock_NAME, known as penstock::NAME, and records name, arrows and files so that
# tests/house can hold the code to them. CUDA_FILES are compiled only where there is CUDA, NO_CUDA_FILES only where there is
# none. A layer whose WHEN variable is false is recorded but not built, and whoever depends on it is built without it.
function(penstock_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "SENTENCE;DIRECTORY;WHEN"
    "DEPENDS;FILES;CUDA_FILES;NO_CUDA_FILES;LINK;PRIVATE_LINK")
  if(NOT layer_DIRECTORY)
    set(layer_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  endif()
  list(TRANSFORM layer_FILES PREPEND ${layer_DIRECTORY}/)
  list(TRANSFORM layer_CUDA_FILES PREPEND ${layer_DIRECTORY}/)
  list(TRANSFORM layer_NO_CUDA_FILES PREPEND ${layer_DIRECTORY}/)

  get_property(known GLOBAL PROPERTY PENSTOCK_LAYERS)
  set(libraries "")
  foreach(below IN LISTS layer_DEPENDS)
    if(NOT below IN_LIST known)
      message(FATAL_ERROR "Layer '${name}' depends on '${below}', which is not a layer declared above it.")
    elseif(TARGET penstock_${below})
      list(APPEND libraries penstock_${below})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_LAYERS ${name})
  set_property(GLOBAL PROPERTY PENSTOCK_LAYER_${name}_DEPENDS ${layer_DEPENDS})
  set_property(GLOBAL PROPERTY PENSTOCK_LAYER_${name}_FILES
    ${layer_FILES} ${layer_CUDA_FILES} ${layer_NO_CUDA_FILES})
  if(layer_WHEN AND NOT ${layer_WHEN})
    return()
  endif()

  add_library(penstock_${name} STATIC ${layer_FILES})
  if(PENSTOCK_WITH_CUDA)
    target_sources(penstock_${name} PRIVATE ${layer_CUDA_FILES})
  else()
    target_sources(penstock_${name} PRIVATE ${layer_NO_CUDA_FILES})
  endif()
  add_library(penstock::${name} ALIAS penstock_${name})
  set_target_properties(penstock_${name} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_compile_features(penstock_${name} PUBLIC cxx_std_20)
  target_include_directories(penstock_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(penstock_${name} PUBLIC ${libraries} ${layer_LINK}
    PRIVATE $<BUILD_INTERFACE:penstock_private_flags> ${layer_PRIVATE_LINK})
  target_compile_options(penstock_${name} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--default-stream;per-thread;--Werror;default-stream-launch;-Xcompiler=-Wall,-Wextra>")
endfunction()
