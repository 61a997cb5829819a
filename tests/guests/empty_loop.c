// Never ends, and does nothing inside its loop.
int main(void) {
  for (;;) {
  }
}
