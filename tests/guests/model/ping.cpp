// Two threads that write to each other ROUNDS times, and print what came last.
#include <cstdio>
#include <cstdlib>

#include <godwit/godwit.hpp>

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  godwit::thread echo([] {
    const godwit::channel<int> line(godwit::this_thread::parent(), 1);
    for (int next = line.receive(); next >= 0; next = line.receive()) line.send(2 * next);
  });
  const godwit::channel<int> line(echo.id(), 1);
  long sum = 0;
  for (int i = 0; i < rounds; i++) {
    line.send(i);
    sum += line.receive();
  }
  line.send(-1);
  const godwit::ending how = echo.join();
  std::printf("%ld, exit %d\n", sum, how.exit_code);
}
