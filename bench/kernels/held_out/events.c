// A simulation of machines that send each other events: a heap ordered by a comparison function, and a handler per state, all by pointer.
#include "../kernel.h"

enum { kMachines = 512, kPending = 4096 };

typedef struct Event Event;
typedef struct Machine Machine;
typedef void Handler(Machine* machine, const Event* event);
typedef int Order(const Event* a, const Event* b);

struct Event {
  uint64_t at;
  uint32_t machine;
  uint32_t load;
};

struct Machine {
  Handler* state;
  uint64_t work, waited;
  KernelRandom random;
};

static Machine machines[kMachines];
static Event pending[kPending];
static size_t pending_count;

static int earlier(const Event* a, const Event* b) { return a->at != b->at ? a->at < b->at : a->machine < b->machine; }

static void push(Event event, Order* before) {
  if (pending_count == kPending) return;
  size_t at = pending_count++;
  while (at > 0 && before(&event, &pending[(at - 1) / 2])) {
    pending[at] = pending[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  pending[at] = event;
}

static Event pop(Order* before) {
  const Event first = pending[0], last = pending[--pending_count];
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= pending_count) break;
    if (child + 1 < pending_count && before(&pending[child + 1], &pending[child])) child++;
    if (!before(&pending[child], &last)) break;
    pending[at] = pending[child];
    at = child;
  }
  pending[at] = last;
  return first;
}

static void idle(Machine* machine, const Event* event);
static void busy(Machine* machine, const Event* event);
static void broken(Machine* machine, const Event* event);

static void send(Machine* from, const Event* event, uint32_t delay) {
  const uint32_t to = kernel_random_below(&from->random, kMachines);
  push((Event){event->at + 1 + delay, to, event->load + 1}, earlier);
}

static void idle(Machine* machine, const Event* event) {
  machine->work += event->load;
  if (event->load % 3 == 0) machine->state = busy;
  send(machine, event, event->load % 17);
}

static void busy(Machine* machine, const Event* event) {
  machine->waited += event->at & 15;
  machine->state = event->load % 11 == 0 ? broken : idle;
  send(machine, event, 5 + event->load % 7);
}

static void broken(Machine* machine, const Event* event) {
  if (event->load % 2 == 0) machine->state = idle;
  send(machine, event, 40);
}

int main(int argc, char** argv) {
  const uint32_t steps = kernel_size(argc, argv, 4000000);
  for (uint32_t i = 0; i < kMachines; i++) {
    machines[i].state = idle;
    machines[i].random.state = i;
    for (uint32_t k = 0; k < 4; k++) push((Event){i % 7 + k, i, i * 5 + k}, earlier);
  }
  for (uint32_t step = 0; step < steps; step++) {
    const Event event = pop(earlier);
    machines[event.machine].state(&machines[event.machine], &event);
  }
  uint64_t sum = pending_count;
  for (uint32_t i = 0; i < kMachines; i++) sum = sum * 31 + machines[i].work + machines[i].waited * 7;
  printf("events %016llx\n", (unsigned long long)sum);
  return 0;
}
