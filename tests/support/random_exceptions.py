"""Random C++ programs that throw, catch, rethrow, clean up, loop and recurse. Each prints a trace and a checksum.

A source holds several programs, one namespace each, since most of the time a compiler needs goes into the headers.
"""

import random

_PRELUDE = """\
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

static unsigned long long h;
static int fuel, lines;
static void log(int id, unsigned v) {
  h = (h ^ (id * 2654435761u + v)) * 1099511628211ull;
  if (lines < 60) { ++lines; printf("%d:%u ", id, v); }
}
struct Guard { int id; ~Guard() { log(id, 7); } };
struct Busy {
  int id;
  unsigned n;
  ~Busy() { unsigned s = id; for (unsigned i = 0; i < n; ++i) s = s * 1664525u + 1013904223u + (h & 1); log(id, s & 1023); }
};
struct Nasty { int id; ~Nasty() { try { if (h % 3 == 0) throw id; log(id, 1); } catch (int v) { log(v, 2); } } };
struct E1 { int v; virtual ~E1() {} E1(int x) : v(x) {} E1(const E1& o) : v(o.v) {} virtual int k() const { return 1; } };
struct E2 : E1 { int w; E2(int x) : E1(x), w(x * 3) {} int k() const override { return 2; } };
struct Other { int q; };
struct E3 : Other, E2 { E3(int x) : Other{x + 5}, E2(x) {} int k() const override { return 3; } };
static std::exception_ptr kept;
"""

_VALUE_OF = {
    "E3& e": "e.w + e.q", "E2& e": "e.k() + e.w", "E1& e": "e.k() * 10 + e.v", "int e": "e", "std::exception& e": "(int)e.what()[0]",
    "std::string& e": "(int)e.size()", "unsigned char e": "e", "Other& e": "e.q",
}
_DERIVED_FIRST = ["E3& e", "E2& e", "E1& e"]


class _Writer:
    def __init__(self, seed: int):
        self._rng = random.Random(seed)
        self._functions = self._rng.randint(4, 8)
        self._ids = 0

    def _id(self) -> int:
        self._ids += 1
        return self._ids

    def _value(self) -> str:
        return self._rng.choice(["a", "d", "a + d", "a * 3 + 1", "(int)(h % 97)", "x", "x + a", "lines"])

    def _throw(self) -> str:
        return self._rng.choice([
            f"throw E1({self._value()});", f"throw E2({self._value()});", f"throw E3({self._value()});", f"throw (int)({self._value()});",
            "throw std::runtime_error(std::to_string(x));", f'throw std::string("s") + std::to_string({self._value()} & 15);',
            f"throw (unsigned char)({self._value()});"
        ])

    def _call(self) -> str:
        target = self._rng.randrange(self._functions)
        return self._rng.choice([
            f"x += f{target}({self._value()}, d - 1);",
            f"x ^= table[(unsigned)({self._value()}) % {self._functions}]({self._value()}, d - 1);",
            f"{{ std::function<int(int)> g = [&](int q) {{ return f{target}(q, d - 1) + x; }}; x += g({self._value()}); }}",
        ])

    def _simple(self, in_handler: bool, in_loop: bool) -> str:
        """A statement without blocks in it."""
        rng, kind = self._rng, self._rng.random()
        if kind < .24:
            return f"log({self._id()}, x);"
        if kind < .41:
            return f"if (({self._value()}) % {rng.randint(2, 5)} == {rng.randint(0, 1)}) {self._throw()}"
        if kind < .73:
            return f"if (d > 0 && --fuel > 0) {self._call()}"
        if kind < .82 and in_handler:
            return f"if (({self._value()}) % {rng.randint(2, 4)} == 0) throw;"
        if kind < .87 and in_handler:
            return "kept = std::current_exception();"
        if kind < .91:
            return "if (kept && x % 3 == 0) { auto k2 = kept; kept = nullptr; std::rethrow_exception(k2); }"
        if kind < .96 and in_loop:
            return f"if (x % {rng.randint(3, 7)} == 0) {rng.choice(['break;', 'continue;'])}"
        return f"if (x % {rng.randint(5, 9)} == 1) return x + {rng.randint(0, 9)};"

    def _statement(self, depth: int, in_handler: bool, in_loop: bool) -> str:
        rng, kind = self._rng, self._rng.random()
        if kind < .64:
            return self._simple(in_handler, in_loop)
        if depth <= 0:
            return f"x = x * {rng.choice([3, 5, 7])} + {rng.randint(0, 99)};"
        if kind < .72:
            i = f"i{depth}"
            return f"for (int {i} = 0; {i} < {rng.randint(1, 4)}; ++{i}) {{ {self._block(depth - 1, in_handler, True)} }}"
        if kind < .75:
            return (f"{{ unsigned s = x; for (int i = 0; i < {rng.randint(10, 400)}; ++i) s = s * 1664525u + 12345u + (h & 3);"
                    " x += s & 255; }")
        if kind < .78:
            return ("{ std::vector<std::string> v; for (int i = 0; i < (x & 7); ++i) v.push_back(std::string(i * 5, 'q'));"
                    " x += (int)v.at((unsigned)x % 9).size(); }")
        return self._try(depth, in_handler, in_loop)

    def _try(self, depth: int, in_handler: bool, in_loop: bool) -> str:
        text = f"try {{ {self._block(depth - 1, in_handler, in_loop)} }}"
        chosen = self._rng.sample(sorted(_VALUE_OF), self._rng.randint(0, 3))
        chosen = [k for k in chosen if k not in _DERIVED_FIRST] + [k for k in _DERIVED_FIRST if k in chosen]
        for kind in chosen:
            text += f" catch ({kind}) {{ log({self._id()}, (unsigned)({_VALUE_OF[kind]})); {self._block(depth - 1, True, in_loop)} }}"
        if not chosen or self._rng.random() < .4:
            text += f" catch (...) {{ log({self._id()}, std::uncaught_exceptions()); {self._block(depth - 1, True, in_loop)} }}"
        return text

    def _block(self, depth: int, in_handler: bool, in_loop: bool) -> str:
        statements = []
        for _ in range(self._rng.randint(1, 3)):
            if self._rng.random() < .25:
                i = self._id()
                statements.append(self._rng.choice([f"Guard g{i}{{{i}}};", f"Busy g{i}{{{i}, {self._rng.randint(1, 90)}u}};", f"Nasty g{i}{{{i}}};"]))
            statements.append(self._statement(depth, in_handler, in_loop))
        return "\n  ".join(statements)

    def program(self, name: str) -> str:
        count = range(self._functions)
        text = [f"namespace {name} {{", *(f"int f{i}(int a, int d);" for i in count), "typedef int (*Fn)(int, int);",
                "static Fn table[] = {" + ", ".join(f"f{i}" for i in count) + "};"]
        for i in count:
            text.append(f"__attribute__((noinline)) int f{i}(int a, int d) {{\n  int x = a & 1023;\n"
                        "  if (d <= 0 || fuel <= 0) { if (a % 5 == 1) throw E2(a & 63); return x; }\n"
                        f"  {self._block(3, False, False)}\n  {self._block(2, False, False)}\n  return x & 0xffff;\n}}")
        text.append(f"""\
void run() {{
  h = {self._rng.randint(1, 10**9)}ull;
  lines = 0;
  for (int r = 0; r < 12; ++r) {{
    fuel = {self._rng.randint(50, 300)};
    try {{ log(100000 + r, f{self._rng.randrange(self._functions)}(r * 7, 5)); }}
    catch (E1& e) {{ log(1, e.v + e.k()); }} catch (int e) {{ log(2, e); }}
    catch (std::exception& e) {{ log(3, e.what()[0]); }} catch (...) {{ log(4, 0); }}
  }}
  kept = nullptr;
  printf("\\n%llu\\n", h);
}}
}}  // namespace {name}""")
        return "\n".join(text)


def source(seeds: range) -> str:
    """One source with a program per seed. Its main() runs them all."""
    programs = "\n".join(_Writer(seed).program(f"seed{seed}") for seed in seeds)
    calls = "\n".join(f"  printf(\"seed {seed}\\n\");\n  seed{seed}::run();" for seed in seeds)
    return f"{_PRELUDE}\n{programs}\nint main() {{\n{calls}\n}}\n"
