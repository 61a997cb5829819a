# Script: writes OUTPUT, a C++ source that defines the functions of src/toolchain/embedded_files.h from the files under ROOT.
# cmake -DOUTPUT=... -DROOT=<sdk/guest> -P embed_text.cmake
function(embed function_name path)
  file(READ ${ROOT}/${path} text)
  string(APPEND body "std::string_view ${function_name}() {\n  return R\"godwit(${text})godwit\";\n}\n\n")
  set(body "${body}" PARENT_SCOPE)
endfunction()

embed(runtime_source runtime/godwit_runtime.c)
embed(reserved_memory_header runtime/reserved_memory.h)
embed(guest_header include/godwit/godwit.h)
embed(guest_task_header include/godwit/task.h)
embed(guest_cxx_header include/godwit/godwit.hpp)
embed(guest_cxx_task_header include/godwit/task.hpp)
file(WRITE ${OUTPUT} "#include \"toolchain/embedded_files.h\"\n\nnamespace gw::toolchain {\n\n${body}}  // namespace gw::toolchain\n")
