#ifndef GODWIT_SYS_STATVFS_H
#define GODWIT_SYS_STATVFS_H

#ifdef __cplusplus
extern "C" {
#endif

struct statvfs {
  unsigned long f_bsize, f_frsize;
  unsigned long long f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail;
  unsigned long f_fsid, f_flag, f_namemax;
};
#define ST_RDONLY 1

/* ENOSYS: how much a guest may write depends on where it runs. */
int statvfs(const char*, struct statvfs*);
int fstatvfs(int, struct statvfs*);

#ifdef __cplusplus
}
#endif

#endif
