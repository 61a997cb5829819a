# Script: writes OUTPUT, a C++ source that defines guest_sdk() of src/toolchain/embedded_files.h from FILES (name=path, separated by commas).
# cmake -DOUTPUT=... -DFILES=a=/x/a,b=/x/b -P embed_text.cmake
string(REPLACE "," ";" FILES "${FILES}")
set(body "")
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} text)
  string(APPEND body "    {\"${name}\", R\"godwit(${text})godwit\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"toolchain/embedded_files.h\"\n\nnamespace gw::toolchain {\n\nnamespace {\nconstexpr EmbeddedFile kGuestSdk[] = {\n${body}};\n}  // namespace\n\nstd::span<const EmbeddedFile> guest_sdk() { return kGuestSdk; }\n\n}  // namespace gw::toolchain\n")
