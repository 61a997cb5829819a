// What wasi-libc lacks and the programs of real_programs_test.py call without needing it. Included before each of their sources.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

// There are no owners and no permissions in a guest's tree.
#define chmod(path, mode) 0
#define chown(path, owner, group) 0
#define umask(mask) 0
// There is no other process to talk to.
#define system(command) ((command) != NULL ? -1 : 0)
#define popen(command, mode) ((void)(command), (void)(mode), (FILE*)NULL)
#define pclose(stream) ((void)(stream), -1)
// A guest makes up its own names: the tree is its own.
#undef L_tmpnam
#define L_tmpnam 32
#define tmpnam(buffer) ((void)(buffer), (char*)NULL)
#define tmpfile() ((FILE*)NULL)
