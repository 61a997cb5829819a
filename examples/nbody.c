// The Sun and the four giant planets for some hundreds of centuries, integrated with the leapfrog scheme.
//
//   godwit run examples/nbody.c
//   godwit run examples/nbody.c -- 20000000           (number of steps of a hundredth of a year)
//
// Prints the total energy ten times on the way. The scheme keeps it nearly constant, and printed digits are the same on every
// machine, since only + - * / and the square root are used.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBodies = 5, kReports = 10 };

static const double kPi = 3.141592653589793;
static const double kDaysPerYear = 365.24;
static const double kStepYears = 0.01;

typedef struct Vec {
  double x, y, z;
} Vec;

typedef struct Body {
  const char* name;
  Vec position;  // astronomical units
  Vec velocity;  // given in units per day, turned into units per year at the start
  double mass;   // solar masses, turned into 4 pi^2 at the start, where the constant of gravity is 1
} Body;

static Body bodies[kBodies] = {
    {"Sun", {0, 0, 0}, {0, 0, 0}, 1.0},
    {"Jupiter",
     {4.84143144246472090, -1.16032004402742839, -0.103622044471123109},
     {0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023},
     0.000954791938424326609},
    {"Saturn",
     {8.34336671824457987, 4.12479856412430479, -0.403523417114321381},
     {-0.00276742510726411021, 0.00499852801234917238, 0.0000230417297573763929},
     0.000285885980666130812},
    {"Uranus",
     {12.8943695621391310, -15.1111514016986312, -0.223307578892655734},
     {0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556},
     0.0000436624404335156298},
    {"Neptune",
     {15.3796971148509165, -25.9193146099879641, 0.179258772950371181},
     {0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870},
     0.0000515138902046611451},
};

static Vec minus(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }

static Vec plus_scaled(Vec a, Vec b, double factor) { return (Vec){a.x + b.x * factor, a.y + b.y * factor, a.z + b.z * factor}; }

static double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Converts the units and gives the Sun the speed that keeps the centre of mass at rest.
static void prepare(void) {
  Vec momentum = {0, 0, 0};
  for (int i = 0; i < kBodies; i++) {
    Body* body = &bodies[i];
    body->mass *= 4 * kPi * kPi;
    body->velocity = plus_scaled((Vec){0, 0, 0}, body->velocity, kDaysPerYear);
    momentum = plus_scaled(momentum, body->velocity, body->mass);
  }
  bodies[0].velocity = plus_scaled(bodies[0].velocity, momentum, -1 / bodies[0].mass);
}

static void kick(double years) {
  for (int i = 0; i < kBodies; i++) {
    for (int j = i + 1; j < kBodies; j++) {
      const Vec between = minus(bodies[i].position, bodies[j].position);
      const double distance2 = dot(between, between);
      const double pull = years / (distance2 * sqrt(distance2));
      bodies[i].velocity = plus_scaled(bodies[i].velocity, between, -bodies[j].mass * pull);
      bodies[j].velocity = plus_scaled(bodies[j].velocity, between, bodies[i].mass * pull);
    }
  }
}

static void drift(double years) {
  for (int i = 0; i < kBodies; i++) bodies[i].position = plus_scaled(bodies[i].position, bodies[i].velocity, years);
}

static double energy(void) {
  double sum = 0;
  for (int i = 0; i < kBodies; i++) {
    sum += bodies[i].mass * dot(bodies[i].velocity, bodies[i].velocity) / 2;
    for (int j = i + 1; j < kBodies; j++) {
      const Vec between = minus(bodies[i].position, bodies[j].position);
      sum -= bodies[i].mass * bodies[j].mass / sqrt(dot(between, between));
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  const long steps = argc > 1 ? atol(argv[1]) : 6000000;
  if (steps < kReports) {
    fprintf(stderr, "usage: nbody [steps, at least %d]\n", kReports);
    return 2;
  }
  prepare();
  printf("%12s  %s\n", "year", "energy");
  printf("%12.2f  %.12f\n", 0.0, energy());
  for (long report = 1; report <= kReports; report++) {
    const long end = steps / kReports * report;
    for (long step = steps / kReports * (report - 1); step < end; step++) {
      drift(kStepYears / 2);
      kick(kStepYears);
      drift(kStepYears / 2);
    }
    printf("%12.2f  %.12f\n", (double)end * kStepYears, energy());
  }
  for (int i = 0; i < kBodies; i++) {
    const Vec p = bodies[i].position;
    printf("%-8s %15.9f %15.9f %15.9f\n", bodies[i].name, p.x, p.y, p.z);
  }
  return 0;
}
