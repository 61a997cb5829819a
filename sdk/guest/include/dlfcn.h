#ifndef GODWIT_DLFCN_H
#define GODWIT_DLFCN_H
/* Nothing can be loaded at run time: dlopen and dlsym return NULL, dlerror says so. */

#ifdef __cplusplus
extern "C" {
#endif

#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_GLOBAL 256
#define RTLD_LOCAL 0
#define RTLD_DEFAULT ((void*)0)

void* dlopen(const char*, int);
void* dlsym(void*, const char*);
int dlclose(void*);
char* dlerror(void);

#ifdef __cplusplus
}
#endif

#endif
