# The files that `make install` and `make package` install. Everything is found relative to the programs, so PREFIX may be any folder and may be
# moved afterwards; only the systemd unit names its program by an absolute path.

include(GNUInstallDirs)
set(lib lib/godwit)  # as GODWIT_RUNPATH has it; not lib/x86_64-linux-gnu: these libraries are of no use to other programs

install(TARGETS godwit godwit-daemon godwit-worker godwit-cc godwit-network-switch RUNTIME DESTINATION bin)
install(CODE [[execute_process(COMMAND ${CMAKE_COMMAND} -E create_symlink godwit-cc
  "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/bin/godwit-c++" COMMAND_ERROR_IS_FATAL ANY)]])
install(FILES $<TARGET_FILE:v8> $<TARGET_FILE:binaryen> DESTINATION ${lib})

# Made by the command itself while it was built (src/cli/CMakeLists.txt).
set(share ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/../share)
install(DIRECTORY ${share}/man ${share}/bash-completion DESTINATION share)
install(FILES ${share}/fish/vendor_completions.d/godwit.fish DESTINATION share/fish/vendor_completions.d)

# Debian's zsh looks into vendor-completions below /usr and into site-functions below /usr/local.
install(CODE "set(zsh_script \"${share}/zsh/site-functions/_godwit\")\nset(godwit_program \"$<TARGET_FILE:godwit>\")")
install(CODE [[
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(zsh_folder vendor-completions)
  else()
    set(zsh_folder site-functions)
  endif()
  file(INSTALL "${zsh_script}" DESTINATION "${CMAKE_INSTALL_PREFIX}/share/zsh/${zsh_folder}")  # puts DESTDIR in front by itself
  set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  file(MAKE_DIRECTORY "${prefix}/lib/systemd/user")
  execute_process(COMMAND "${godwit_program}" unit "${CMAKE_INSTALL_PREFIX}/bin/godwit"
    OUTPUT_FILE "${prefix}/lib/systemd/user/godwit.service" COMMAND_ERROR_IS_FATAL ANY)
]])

install(FILES README.md LICENSE docs/user-guide.md docs/glossary.md docs/cli-json.md docs/cli-json-schema.json docs/reasons.md
              docs/security.md docs/tracker.md docs/api/openapi.yaml DESTINATION share/doc/godwit)
install(FILES cmake/debian_copyright DESTINATION share/doc/godwit RENAME copyright)

# The Debian package: build/package/godwit_VERSION_ARCHITECTURE.deb
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME godwit)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Godwit developers <godwit@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "peer-to-peer supercomputer made of idle machines")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Godwit runs ordinary C, C++ and WebAssembly programs on all machines that have joined a grid.
 A running program is suspended in the middle of a loop, moved to another
 machine and continued there. There is no server, no account and no shared
 disk, and any machine may fail.")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_SOURCE_DIR}/build/package)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
# The packages of the libraries that programs are linked with come from dpkg-shlibdeps.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${GODWIT_BOUND_LIBRARIES})
# A lender needs no compiler; `godwit run prog.c` does.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "clang-19, lld-19, wasi-libc, libc++-19-dev-wasm32, libc++abi-19-dev-wasm32, libclang-rt-19-dev-wasm32, man-db")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, iproute2, iptables, xdg-utils")
include(CPack)
