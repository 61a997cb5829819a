// Uses a good deal of CPU time (tenths of a second), then exits with 7.
int main(void) {
  for (volatile long left = 300000000; left != 0; left--) {
  }
  return 7;
}
