# How libraries, tests and programs of this project are declared.
#
#   gw_library(wire DEPS base EXTERNAL PkgConfig::zstd)    one static library per folder, and its link test
#   gw_test(wire_test DEPS wire)                           GTest program; each of its tests becomes a ctest test
#   gw_program(godwit DEPS cli)                            executable in build/bin, which may be copied to any folder
#
# SOURCES may be left out: a library then takes every *.cc of its folder and one level of subfolders but the tests, a test every
# *_test.cc.

include(GoogleTest)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

# Where programs find the libraries that come with them (cmake/dependencies.cmake): beside them in build/bin, and as installed.
set(GODWIT_BOUND_LIBRARIES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/lib)
set(GODWIT_RUNPATH "$ORIGIN/lib;$ORIGIN/../lib/godwit")

# Everything ends in an executable, so the same precompiled headers fit libraries and programs.
add_compile_options(-fPIE)
add_link_options(-pie)

set(GODWIT_SANITIZE "" CACHE STRING "Argument of -fsanitize=, e.g. address,undefined; empty: none")
# Leaving fields out of a designated initialiser is how options structs are meant to be used here.
add_compile_options(-Wall -Wextra -Werror -Wno-missing-designated-field-initializers -fno-omit-frame-pointer -g1)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
if(GODWIT_SANITIZE)
  # Not vptr: V8 is built without RTTI, so every object of a V8 class fails that check, in our files too.
  add_compile_options(-fsanitize=${GODWIT_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${GODWIT_SANITIZE} -fno-sanitize=vptr)
endif()
# A program loads only what it calls: gw_isolate brings the engine's library along, and most of its parts do not use it.
add_link_options(-Wl,--as-needed)
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# The layer table (tools/layers.txt) decides which library may depend on which; see tools/layers.py for the includes.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/layers.txt)
function(gw_check_layer name)
  file(STRINGS ${CMAKE_SOURCE_DIR}/tools/layers.txt rule REGEX "^${name}:")
  if(NOT rule)
    message(FATAL_ERROR "Folder ${name} has no line in tools/layers.txt.")
  endif()
  string(REGEX REPLACE "^[^:]*:" "" allowed "${rule}")
  separate_arguments(allowed)
  foreach(dep ${ARGN})
    if(NOT dep IN_LIST allowed)
      message(FATAL_ERROR "Library ${name} may not depend on ${dep}: tools/layers.txt allows it only: ${allowed}.")
    endif()
  endforeach()
endfunction()

# Everything labelled unit, and what that needs. Not part of `all`: it is built where it runs, with sanitizers (see the Makefile).
add_custom_target(unit_tests)
function(gw_is_unit_test target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(unit_tests ${target})
endfunction()

# Links the whole library with nothing but what it declares, so that a call into a library above it fails here and not by chance later.
function(gw_link_test name)
  set(main ${CMAKE_BINARY_DIR}/link_test_main.cc)
  if(NOT EXISTS ${main})
    file(WRITE ${main} "int main() {}\n")
  endif()
  add_executable(${name}_link_test ${main})
  gw_is_unit_test(${name}_link_test)
  target_link_libraries(${name}_link_test PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,gw_${name}>)
  add_test(NAME link.${name} COMMAND ${name}_link_test)
  set_tests_properties(link.${name} PROPERTIES LABELS unit TIMEOUT 30)
endfunction()

# Everything is compiled eight files at a time (UNITY_BUILD): headers cost more than code, and a cold build has to fit into CI. So the names of
# one folder that are not exported differ from each other, too, those of its tests included.
#
# Slow headers are precompiled, once for all who take them in: a precompiled header costs five to ten CPU seconds.
# PRECOMPILED names the one that a library or program uses:
#   plain      what is taken in everywhere; if nothing is said
#   messages   and our messages
#   network    and Asio, which a target that includes it has to link, and JSON
#   tests      messages and GTest, not optimised: every test
add_compile_options("SHELL:-Xclang -fno-pch-timestamp")  # else ccache takes every precompiled header for a new one
function(gw_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "HEADERS;EXTERNAL")
  set(empty ${CMAKE_BINARY_DIR}/empty.cc)
  if(NOT EXISTS ${empty})
    file(WRITE ${empty} "")
  endif()
  set(target gw_precompiled_${name})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${empty})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE fmt::fmt ${ARG_EXTERNAL})
  target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled.h ${ARG_HEADERS})
endfunction()
set(message_headers <wire/overlay.pb.h> <wire/peer.pb.h> <wire/worker.pb.h>)
gw_precompiled(plain)
gw_precompiled(messages HEADERS ${message_headers} EXTERNAL gw_wire_messages)
gw_precompiled(network HEADERS ${message_headers} <transport/asio.h> <nlohmann/json.hpp> EXTERNAL gw_wire_messages asio)
gw_precompiled(tests HEADERS ${message_headers} <gmock/gmock.h> <gtest/gtest.h> EXTERNAL gw_wire_messages GTest::gmock GTest::gtest)
# Optimising the tests themselves takes longer than running them.
target_compile_options(gw_precompiled_tests PRIVATE -O0)

function(gw_use_precompiled target name)
  if(NOT name)
    set(name plain)
  endif()
  target_precompile_headers(${target} REUSE_FROM gw_precompiled_${name})
endfunction()

function(gw_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PRECOMPILED" "SOURCES;DEPS;EXTERNAL")
  gw_check_layer(${name} ${ARG_DEPS})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS *.cc */*.cc)
    list(FILTER ARG_SOURCES EXCLUDE REGEX "(_test\\.cc|/test/[^/]*)$")
  endif()
  add_library(gw_${name} STATIC ${ARG_SOURCES})
  target_include_directories(gw_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ARG_DEPS PREPEND gw_)
  target_link_libraries(gw_${name} PUBLIC ${ARG_DEPS} ${ARG_EXTERNAL})
  gw_use_precompiled(gw_${name} "${ARG_PRECOMPILED}")
  set_target_properties(gw_${name} PROPERTIES UNITY_BUILD ON)
  gw_link_test(${name})
endfunction()

function(gw_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TIMEOUT;LABEL" "SOURCES;DEPS;EXTERNAL;PROPERTIES")
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS *_test.cc)
    if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/src/[^/]*$")
      file(GLOB in_subfolders CONFIGURE_DEPENDS */*_test.cc)
      list(APPEND ARG_SOURCES ${in_subfolders})
    endif()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD ON)
  list(TRANSFORM ARG_DEPS PREPEND gw_)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${ARG_EXTERNAL} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_options(${name} PRIVATE -O0)
  gw_use_precompiled(${name} tests)
  if(ARG_LABEL STREQUAL unit)
    gw_is_unit_test(${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} ${ARG_PROPERTIES})
endfunction()

function(gw_program name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "PRECOMPILED" "SOURCES;DEPS;EXTERNAL")
  add_executable(${name} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND gw_)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${ARG_EXTERNAL})
  gw_use_precompiled(${name} "${ARG_PRECOMPILED}")
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${GODWIT_RUNPATH}")
endfunction()
