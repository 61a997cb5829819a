#ifndef GODWIT_GRP_H
#define GODWIT_GRP_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct group {
  char *gr_name, *gr_passwd;
  gid_t gr_gid;
  char** gr_mem;
};

/* The only group is number 0, "guest". */
struct group* getgrgid(gid_t);
struct group* getgrnam(const char*);

#ifdef __cplusplus
}
#endif

#endif
