# Every library from outside, as one imported target each. All of them come from Debian packages (tools/packages.txt).

find_package(fmt REQUIRED)
find_package(GTest REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(smartcols REQUIRED IMPORTED_TARGET smartcols)
pkg_check_modules(sqlite REQUIRED IMPORTED_TARGET sqlite3)
find_package(Protobuf REQUIRED)
find_package(tomlplusplus REQUIRED)

# V8 comes inside Debian's libnode. Where another vendor's nodejs is installed the package cannot be, and tools/setup unpacks it
# under build/deps/node instead.
set(GODWIT_NODE_ROOT "" CACHE PATH "Folder that holds usr/include/node and usr/lib of libnode; empty: the system, then build/deps/node")
if(GODWIT_NODE_ROOT)
  set(node_roots ${GODWIT_NODE_ROOT})
else()
  set(node_roots / ${CMAKE_SOURCE_DIR}/build/deps/node)
endif()
foreach(root ${node_roots})
  cmake_path(APPEND root usr lib ${CMAKE_LIBRARY_ARCHITECTURE} libnode.so.108 OUTPUT_VARIABLE library)
  cmake_path(APPEND root usr include node OUTPUT_VARIABLE headers)
  if(EXISTS ${library} AND EXISTS ${headers}/v8.h)
    add_library(v8 SHARED IMPORTED)
    set_target_properties(v8 PROPERTIES IMPORTED_LOCATION ${library} IMPORTED_SONAME libnode.so.108
                                        INTERFACE_INCLUDE_DIRECTORIES ${headers})
    break()
  endif()
endforeach()
if(NOT TARGET v8)
  message(FATAL_ERROR "libnode.so.108 (V8 10.2) was not found in: ${node_roots}. Run tools/setup, or pass -DGODWIT_NODE_ROOT=<folder>.")
endif()

find_library(BINARYEN_LIBRARY binaryen REQUIRED)
find_path(BINARYEN_INCLUDE_DIR binaryen-c.h REQUIRED)
add_library(binaryen SHARED IMPORTED)
set_target_properties(binaryen PROPERTIES IMPORTED_LOCATION ${BINARYEN_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${BINARYEN_INCLUDE_DIR})

# Boost.Asio is headers only; its functions are compiled once, into this library. Its own warnings are none of our business.
find_package(Boost 1.81 REQUIRED)
add_library(asio STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/asio.cc)
target_compile_definitions(asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
target_include_directories(asio SYSTEM PUBLIC ${Boost_INCLUDE_DIRS})
target_link_libraries(asio PUBLIC OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
