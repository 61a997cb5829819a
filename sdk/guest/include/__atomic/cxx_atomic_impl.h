// The operations with which a thread waits for another one count as looks (__godwit_spin.h).
#include <__godwit_spin.h>

#define __c11_atomic_load(...) (::__godwit_spin(), __c11_atomic_load(__VA_ARGS__))
#define __c11_atomic_exchange(...) (::__godwit_spin(), __c11_atomic_exchange(__VA_ARGS__))
#define __c11_atomic_compare_exchange_strong(...) (::__godwit_spin(), __c11_atomic_compare_exchange_strong(__VA_ARGS__))
#define __c11_atomic_compare_exchange_weak(...) (::__godwit_spin(), __c11_atomic_compare_exchange_weak(__VA_ARGS__))

#include_next <__atomic/cxx_atomic_impl.h>

#undef __c11_atomic_load
#undef __c11_atomic_exchange
#undef __c11_atomic_compare_exchange_strong
#undef __c11_atomic_compare_exchange_weak
