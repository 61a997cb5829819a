// Numbers that need the compiler's own functions: 128 bits, long double.
#include <cstdio>
#include <cstdlib>

int main(int argc, char**) {
  unsigned __int128 wide = 123456789;
  for (int i = 0; i < 5; ++i) wide = wide * 1000003 + static_cast<unsigned>(argc);
  std::printf("%llu %llu\n", static_cast<unsigned long long>(wide % 1000000007u), static_cast<unsigned long long>(wide / 99999999999u));
  __int128 negative = -static_cast<__int128>(wide >> 1);
  std::printf("%lld\n", static_cast<long long>(negative % 997));
  long double third = 1.0L / 3;
  std::printf("%.6Lf %.3Le %Lg\n", third, third, third * 3);
  long double read = 0;
  std::sscanf("2.5", "%Lf", &read);
  std::printf("%.2Lf %.3Lf\n", read, std::strtold("0.125", nullptr));
}
