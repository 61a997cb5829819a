# Script: writes OUTPUT, a C++ source with a hash over FILES (a list separated by commas): everything of ours that decides what a build gives.
# cmake -DOUTPUT=... -DFILES=a,b,c -P pipeline_version.cmake
string(REPLACE "," ";" FILES "${FILES}")
foreach(path ${FILES})
  file(SHA256 ${path} hash)
  string(APPEND all "${hash}\n")
endforeach()
string(SHA256 version "${all}")
file(WRITE ${OUTPUT} "#include \"toolchain/pipeline_version.h\"\n\nnamespace gw::toolchain {\n\nstd::string_view pipeline_version() { return \"${version}\"; }\n\n}  // namespace gw::toolchain\n")
