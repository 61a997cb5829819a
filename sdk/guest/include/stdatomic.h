#ifndef GODWIT_STDATOMIC_H
#define GODWIT_STDATOMIC_H
/* The operations with which a thread waits for another one count as looks (__godwit_spin.h). */

#include_next <stdatomic.h>

#ifndef __cplusplus
#include <__godwit_spin.h>
#define __c11_atomic_load(...) (__godwit_spin(), __c11_atomic_load(__VA_ARGS__))
#define __c11_atomic_exchange(...) (__godwit_spin(), __c11_atomic_exchange(__VA_ARGS__))
#define __c11_atomic_compare_exchange_strong(...) (__godwit_spin(), __c11_atomic_compare_exchange_strong(__VA_ARGS__))
#define __c11_atomic_compare_exchange_weak(...) (__godwit_spin(), __c11_atomic_compare_exchange_weak(__VA_ARGS__))
#endif

#endif
