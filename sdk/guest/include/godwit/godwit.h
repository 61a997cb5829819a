#ifndef GODWIT_GODWIT_H
#define GODWIT_GODWIT_H
/* What a guest program may ask of Godwit. C, usable from C++; every program also runs without any of it. */

#ifdef __cplusplus
extern "C" {
#endif

/* A good moment to suspend or save this program: with --mobile=coarse the only one besides blocking calls, otherwise just a hint.
   Returns when the program goes on, perhaps on another machine. */
void godwit_checkpoint(void) __attribute__((import_module("godwit"), import_name("checkpoint")));

#ifdef __cplusplus
}
#endif

#endif
