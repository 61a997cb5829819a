// Linked into C++ programs that are built with --debug: lets the host note where an exception is thrown. When it turns out that nobody
// catches it, the frames of the throw are gone.

__attribute__((import_module("godwit"), import_name("mark_throw"))) void godwit_host_mark_throw(int uncaught);

void godwit_mark_throw(int uncaught) { godwit_host_mark_throw(uncaught); }
