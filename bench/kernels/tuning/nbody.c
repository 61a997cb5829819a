// Five bodies under gravity: short inner loops, bound by division and square root.
#include <math.h>

#include "../kernel.h"

enum { kBodies = 5, kAxes = 3 };

typedef struct Body {
  double position[kAxes];
  double velocity[kAxes];
  double mass;
} Body;

static void pull(Body* a, Body* b, double step) {
  double between[kAxes], distance2 = 0;
  for (int k = 0; k < kAxes; k++) {
    between[k] = a->position[k] - b->position[k];
    distance2 += between[k] * between[k];
  }
  const double strength = step / (distance2 * sqrt(distance2));
  for (int k = 0; k < kAxes; k++) {
    a->velocity[k] -= between[k] * b->mass * strength;
    b->velocity[k] += between[k] * a->mass * strength;
  }
}

static void advance(Body* bodies, double step) {
  for (int i = 0; i < kBodies; i++) {
    for (int j = i + 1; j < kBodies; j++) pull(&bodies[i], &bodies[j], step);
  }
  for (int i = 0; i < kBodies; i++) {
    for (int k = 0; k < kAxes; k++) bodies[i].position[k] += step * bodies[i].velocity[k];
  }
}

int main(int argc, char** argv) {
  const uint32_t steps = kernel_size(argc, argv, 5000000);
  // A heavy body in the middle and four light ones on nearly circular paths round it.
  Body bodies[kBodies] = {
      {{0, 0, 0}, {0, 0, 0}, 40},
      {{5, 0, 0.1}, {0, 2.8, 0}, 0.04},
      {{0, 9, -0.4}, {-2.1, 0, 0.01}, 0.012},
      {{-19, 0.5, 0.2}, {0, -1.4, 0.02}, 0.002},
      {{1, -30, 0}, {1.15, 0, -0.03}, 0.002},
  };
  for (uint32_t i = 0; i < steps; i++) advance(bodies, 0.001);
  double energy = 0;
  for (int i = 0; i < kBodies; i++) {
    for (int k = 0; k < kAxes; k++) energy += bodies[i].mass * bodies[i].velocity[k] * bodies[i].velocity[k];
  }
  printf("nbody %.12f\n", energy);
  return 0;
}
