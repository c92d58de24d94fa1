# SPDX-License-Identifier: Apache-2.0
# The flavours that are built: which default stream "0" means. A target of the legacy one ends in _legacy.
set(PENSTOCK_FLAVOURS per_thread)
if(PENSTOCK_BOTH_FLAVOURS)
  list(APPEND PENSTOCK_FLAVOURS legacy)
endif()
set(PENSTOCK_SUFFIX_per_thread "")
set(PENSTOCK_SUFFIX_legacy _legacy)
set(PENSTOCK_DEFINITIONS_per_thread PENSTOCK_PER_THREAD=1 CUDA_API_PER_THREAD_DEFAULT_STREAM=1)
set(PENSTOCK_DEFINITIONS_legacy PENSTOCK_LEGACY=1)
set(PENSTOCK_NVCC_per_thread per-thread)
set(PENSTOCK_NVCC_legacy legacy)

# penstock_compile(TARGET LINK libraries...): what every library of the project is compiled with.
function(penstock_compile target)
  cmake_parse_arguments(PARSE_ARGV 1 it "" "" "LINK;PRIVATE_LINK;DEFINE")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(NOT PROJECT_IS_TOP_LEVEL)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/moved_headers>)
  endif()
  target_link_libraries(${target} PUBLIC ${it_LINK}
    PRIVATE $<BUILD_INTERFACE:penstock_private_flags> ${it_PRIVATE_LINK})
  target_compile_definitions(${target} PRIVATE ${it_DEFINE})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--Werror;default-stream-launch;-Xcompiler=-Wall,-Wextra>")
endfunction()

# penstock_compile_together(TARGET): where PENSTOCK_UNITY is on, several of its sources are compiled as one.
function(penstock_compile_together target)
  if(PENSTOCK_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# penstock_add_layer(NAME SENTENCE "what it adds" DEPENDS layers... PUBLIC headers... FILES files... LINK outside libraries...
#                    [CUDA_FILES files...] [NO_CUDA_FILES files...] [PRIVATE_LINK libraries...] [DEFINE definitions...]
#                    [DIRECTORY folder] [WHEN variable] [FLAVOURED [ONCE files...]] [APART] [TOGETHER])
#
# Makes the static library penstock_NAME, known as penstock::NAME if no component has that name, and records name, arrows and files
# so that tests/house can hold the code to them. CUDA_FILES are compiled only where there is CUDA, NO_CUDA_FILES only where there is
# none. A layer whose WHEN variable is false is recorded but not built, and layers that depend on it are built without it.
#
# Its folder is NAME in that of its component, or that folder if it has the component's name or is all of it; DIRECTORY, from src, is
# another.
# PUBLIC: its headers in include/penstock, which are installed; all others are private.
# APART: its files give different things the same private name, so they are compiled one by one in every build.
# TOGETHER: it is no part of the engine, so PENSTOCK_UNITY compiles several of its sources as one.
#
# A FLAVOURED layer is made twice, the second time as penstock_NAME_legacy on the legacy libraries of the layers below. A target
# that links one of the two means the same default stream by "0". Its files under ONCE are the same in both flavours: they are
# compiled once, without a flavour, and are in both libraries.
function(penstock_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "APART;FLAVOURED;TOGETHER" "SENTENCE;DIRECTORY;WHEN"
    "DEPENDS;PUBLIC;FILES;ONCE;CUDA_FILES;NO_CUDA_FILES;LINK;PRIVATE_LINK;DEFINE")
  get_property(component GLOBAL PROPERTY PENSTOCK_LAYER_${name}_COMPONENT)
  if(NOT component)
    message(FATAL_ERROR "Layer '${name}' is in no component: name it in PenstockComponents.cmake.")
  endif()
  get_property(folder GLOBAL PROPERTY PENSTOCK_COMPONENT_${component}_FOLDER)
  get_property(layers_beside GLOBAL PROPERTY PENSTOCK_COMPONENT_${component}_LAYERS)
  if(NOT layer_DIRECTORY)
    set(layer_DIRECTORY ${folder})
    if(NOT name STREQUAL component AND NOT layers_beside STREQUAL name)
      string(APPEND layer_DIRECTORY /${name})
    endif()
  endif()
  cmake_path(ABSOLUTE_PATH layer_DIRECTORY BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src)
  foreach(kind FILES ONCE CUDA_FILES NO_CUDA_FILES)
    list(TRANSFORM layer_${kind} PREPEND ${layer_DIRECTORY}/)
  endforeach()
  list(TRANSFORM layer_PUBLIC PREPEND ${PROJECT_SOURCE_DIR}/include/penstock/)

  get_property(is_library GLOBAL PROPERTY PENSTOCK_COMPONENT_${name}_LIBRARY)
  get_property(is_shared GLOBAL PROPERTY PENSTOCK_COMPONENT_${name}_SHARED)
  get_property(known GLOBAL PROPERTY PENSTOCK_LAYERS)
  set(without_flavour "")
  foreach(below IN LISTS layer_DEPENDS)
    if(NOT below IN_LIST known)
      message(FATAL_ERROR "Layer '${name}' depends on '${below}', which is not a layer declared above it.")
    endif()
    get_property(libraries GLOBAL PROPERTY PENSTOCK_LAYER_${below}_WITHOUT_FLAVOUR)
    list(APPEND without_flavour ${libraries})
  endforeach()
  list(REMOVE_DUPLICATES without_flavour)
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_LAYERS ${name})
  foreach(fact DEPENDS PUBLIC FLAVOURED LINK PRIVATE_LINK)
    set_property(GLOBAL PROPERTY PENSTOCK_LAYER_${name}_${fact} ${layer_${fact}})
  endforeach()
  set_property(GLOBAL PROPERTY PENSTOCK_LAYER_${name}_FILES
    ${layer_PUBLIC} ${layer_FILES} ${layer_ONCE} ${layer_CUDA_FILES} ${layer_NO_CUDA_FILES})
  set_property(GLOBAL PROPERTY PENSTOCK_LAYER_${name}_FLAVOURED_FILES "")
  # What a file without a flavour may use: whole layers that have none.
  set_property(GLOBAL PROPERTY PENSTOCK_LAYER_${name}_WITHOUT_FLAVOUR ${without_flavour})
  if(layer_FLAVOURED)
    set_property(GLOBAL PROPERTY PENSTOCK_LAYER_${name}_FLAVOURED_FILES
      ${layer_PUBLIC} ${layer_FILES} ${layer_CUDA_FILES} ${layer_NO_CUDA_FILES})
  endif()
  if(layer_WHEN AND NOT ${layer_WHEN})
    return()
  endif()
  if(NOT layer_FLAVOURED)
    set_property(GLOBAL PROPERTY PENSTOCK_LAYER_${name}_WITHOUT_FLAVOUR penstock_${name})
  endif()

  set(sources ${layer_PUBLIC} ${layer_FILES})
  if(PENSTOCK_WITH_CUDA)
    list(APPEND sources ${layer_CUDA_FILES})
  else()
    list(APPEND sources ${layer_NO_CUDA_FILES})
  endif()
  set(flavours per_thread)
  if(layer_FLAVOURED)
    set(flavours ${PENSTOCK_FLAVOURS})
  endif()
  if(layer_ONCE)
    add_library(penstock_${name}_once OBJECT ${layer_ONCE})
    penstock_compile(penstock_${name}_once
      LINK ${without_flavour} ${layer_LINK} PRIVATE_LINK ${layer_PRIVATE_LINK} DEFINE ${layer_DEFINE})
    list(APPEND sources $<TARGET_OBJECTS:penstock_${name}_once>)
    if(layer_TOGETHER)
      penstock_compile_together(penstock_${name}_once)
    endif()
  endif()

  foreach(flavour IN LISTS flavours)
    set(suffix ${PENSTOCK_SUFFIX_${flavour}})
    set(library penstock_${name}${suffix})
    set(libraries "")
    foreach(below IN LISTS layer_DEPENDS)
      if(TARGET penstock_${below}${suffix})
        list(APPEND libraries penstock_${below}${suffix})
      elseif(TARGET penstock_${below})
        list(APPEND libraries penstock_${below})
      endif()
    endforeach()
    add_library(${library} STATIC ${sources})
    if(NOT is_library AND NOT is_shared)
      add_library(penstock::${name}${suffix} ALIAS ${library})
    endif()
    if(layer_TOGETHER)
      penstock_compile_together(${library})
    elseif(layer_APART)
      set_target_properties(${library} PROPERTIES UNITY_BUILD OFF)
    endif()
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
    penstock_compile(${library}
      LINK ${libraries} ${layer_LINK} PRIVATE_LINK ${layer_PRIVATE_LINK} DEFINE ${layer_DEFINE})
    if(layer_FLAVOURED)
      target_compile_definitions(${library} PUBLIC ${PENSTOCK_DEFINITIONS_${flavour}})
      # CMake refuses a target that would link both.
      set_target_properties(${library} PROPERTIES
        INTERFACE_PENSTOCK_FLAVOUR ${flavour} COMPATIBLE_INTERFACE_STRING PENSTOCK_FLAVOUR)
      target_compile_options(${library} PUBLIC
        "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--default-stream ${PENSTOCK_NVCC_${flavour}}>")
    endif()
  endforeach()
endfunction()
