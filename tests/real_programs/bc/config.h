// The results that bc's configure script would find.
#pragma once

#define PACKAGE "bc"
#define VERSION "1.07.1"
#define DC_VERSION "1.4.1"
#define DC_COPYRIGHT ""
#define BC_COPYRIGHT ""
#define STDC_HEADERS 1
#define HAVE_STDARG_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_ERRNO_H 1
#define HAVE_LIMITS_H 1
#define HAVE_UNISTD_H 1
#define HAVE_LIB_H 0
