#ifndef GODWIT_PWD_H
#define GODWIT_PWD_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct passwd {
  char *pw_name, *pw_passwd;
  uid_t pw_uid;
  gid_t pw_gid;
  char *pw_gecos, *pw_dir, *pw_shell;
};

/* The only user is number 0, "guest", whose home is the root of the guest's files. */
struct passwd* getpwuid(uid_t);
struct passwd* getpwnam(const char*);
struct passwd* getpwent(void);
void setpwent(void);
void endpwent(void);

#ifdef __cplusplus
}
#endif

#endif
