// Prints what calls answer, in words that are the same on every system.
#pragma once

#include <errno.h>
#include <stdio.h>

static const char* errno_name(int code) {
  switch (code) {
    case EBADF:
      return "EBADF";
    case EBUSY:
      return "EBUSY";
    case EEXIST:
      return "EEXIST";
    case EINVAL:
      return "EINVAL";
    case EISDIR:
      return "EISDIR";
    case ELOOP:
      return "ELOOP";
    case ENAMETOOLONG:
      return "ENAMETOOLONG";
    case ENOENT:
      return "ENOENT";
    case ENOTDIR:
      return "ENOTDIR";
    case ENOTEMPTY:
      return "ENOTEMPTY";
    case EPERM:
      return "EPERM";
    case ESPIPE:
      return "ESPIPE";
    default:
      return "another error";
  }
}

static long long report(const char* what, long long result) {
  if (result < 0) {
    printf("%s: %s\n", what, errno_name(errno));
  } else {
    printf("%s: %lld\n", what, result);
  }
  return result;
}

// For calls that return a new descriptor: its number is not part of the report.
static int report_open(const char* what, int fd) {
  report(what, fd < 0 ? -1 : 0);
  return fd;
}

#define REPORT(call) report(#call, call)
#define REPORT_OPEN(call) report_open(#call, call)
