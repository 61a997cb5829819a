#ifndef GODWIT_DIRENT_H
#define GODWIT_DIRENT_H

#include_next <dirent.h>

#ifndef DT_SOCK
#define DT_SOCK 255 /* of no entry here */
#endif

#endif
