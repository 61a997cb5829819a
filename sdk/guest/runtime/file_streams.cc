// The file streams that Debian's libc++.a for wasm32, built without file systems, lacks: their templates are in the headers.

#include <fstream>

_LIBCPP_BEGIN_NAMESPACE_STD

template class basic_filebuf<char>;
template class basic_ifstream<char>;
template class basic_ofstream<char>;
template class basic_fstream<char>;

_LIBCPP_END_NAMESPACE_STD
