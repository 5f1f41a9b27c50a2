// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <vector>

#include "hpl/hpl.h"

namespace control_tests {

using namespace hpl;

namespace {

constexpr int kCount = 40;

/// Runs `kernel(out)` over kCount work-items, on the device and in the interpreter, and compares
/// both with `expected(i)`.
template <class K, class E>
void checkKernel(const K& kernel, E expected) {
  Array<int, 1> out(kCount);
  Array<int, 1> interpreted(kCount);
  out = -1;
  interpreted = -1;
  eval(kernel)(out);
  eval(kernel).interpret(interpreted);
  for (int i = 0; i < kCount; ++i) {
    INFO("work-item " << i);
    CHECK(out(i).value() == expected(i));
    CHECK(interpreted(i).value() == expected(i));
  }
}

}  // namespace

TEST_CASE("if_, elseif_ and else_ take one branch, nested ones too") {
  checkKernel(
      [](Array<int, 1> out) {
        Int i = idx;
        if_(i < 5) {
          out[idx] = 1;
        }
        elseif_(i < 10) {
          if_(i % 2 == 0) {
            out[idx] = 20;
          }
          else_ {
            if_(i == 7) {
              out[idx] = 27;
            }
            else_ { out[idx] = 21; }
          }
        }
        else_if_(i < 15) {
          out[idx] = 3;
        }
        elseif_(i == 20) {
          out[idx] = 4;
        }
        else_ { out[idx] = 5; }
      },
      [](int i) {
        if (i < 5) return 1;
        if (i < 10) return i % 2 == 0 ? 20 : i == 7 ? 27 : 21;
        if (i < 15) return 3;
        return i == 20 ? 4 : 5;
      });
}

TEST_CASE("an if_ without else_ leaves the element as it was") {
  checkKernel(
      [](Array<int, 1> out) {
        if_(idx % 3 == 0) out[idx] = 7;
      },
      [](int i) { return i % 3 == 0 ? 7 : -1; });
}

TEST_CASE("the condition of an elseif_ is evaluated only when it is reached") {
  checkKernel(
      [](Array<int, 1> out) {
        Int i = idx, evaluated = 0;
        if_(i < 10) {
          out[idx] = 1;
        }
        elseif_((evaluated += 5, i < 20)) {
          out[idx] = 2 + evaluated;
        }
        else_ { out[idx] = 3 + evaluated; }
      },
      [](int i) { return i < 10   ? 1
                         : i < 20 ? 7
                                  : 8; });
}

TEST_CASE("for_ with a declaration, with several steps, nested, in both directions") {
  checkKernel(
      [](Array<int, 1> out) {
        Int sum = 0;
        for_(Int i = 0, i < cast<int>(idx), i++) {
          for_(Int j = i, j > 0, j -= 2) {
            sum += j;
          }
        }
        Int a, b = 100;
        for_(a = 0, a < b, a += 3, b--) {
          sum += 1;
        }
        out[idx] = sum;
      },
      [](int n) {
        int sum = 0;
        for (int i = 0; i < n; ++i)
          for (int j = i; j > 0; j -= 2) sum += j;
        for (int a = 0, b = 100; a < b; a += 3, b--) sum += 1;
        return sum;
      });
}

TEST_CASE("while_ evaluates the side effects of its condition every time, the last one too") {
  checkKernel(
      [](Array<int, 1> out) {
        Int i = idx, turns = 0;
        while_(i-- > 0) {
          turns += 10;
        }
        out[idx] = turns + i;
      },
      [](int n) { return n * 10 - 1; });
}

TEST_CASE("do_ runs its body once at least, and continue_ in it reaches the condition") {
  checkKernel(
      [](Array<int, 1> out) {
        Int i = idx, sum = 0;
        do_ {
          i--;
          if_(i % 3 == 0) continue_;
          sum += i;
        }
        dowhile_(i > 0);
        out[idx] = sum * 100 + i;
      },
      [](int i) {
        int sum = 0;
        do {
          i--;
          if (i % 3 == 0) continue;
          sum += i;
        } while (i > 0);
        return sum * 100 + i;
      });
}

TEST_CASE("break_ and continue_ act on the innermost loop; continue_ runs the step") {
  checkKernel(
      [](Array<int, 1> out) {
        Int sum = 0;
        for_(Int i = 0, i < 20, i++) {
          if_(i % 2 == 1) continue_;
          if_(i > cast<int>(idx)) break_;
          Int k = 0;
          while_(1) {
            k++;
            if_(k == 3) continue_;
            if_(k > i) break_;
            sum += k;
          }
        }
        out[idx] = sum;
      },
      [](int n) {
        int sum = 0;
        for (int i = 0; i < 20; ++i) {
          if (i % 2 == 1) continue;
          if (i > n) break;
          int k = 0;
          while (true) {
            k++;
            if (k == 3) continue;
            if (k > i) break;
            sum += k;
          }
        }
        return sum;
      });
}

TEST_CASE("return_() leaves the kernel, from inside loops too") {
  checkKernel(
      [](Array<int, 1> out) {
        for_(Int i = 0, i < 100, i++) {
          if_(i == cast<int>(idx)) {
            out[idx] = i * 2;
            return_();
          }
        }
        out[idx] = 999;
      },
      [](int i) { return i * 2; });
}

TEST_CASE("declarations in inner blocks, private arrays and plain C++ loops") {
  checkKernel(
      [](Array<int, 1> out) {
        Array<int, 1> history(8);
        for (int i = 0; i < 8; ++i) history[i] = cast<int>(idx) + i;
        Int total = 0;
        for_(Int i = 0, i < 8, i++) {
          Int square = history[i] * history[i];
          if_(square % 2 == 0) {
            Int half = square / 2;
            total += half;
          }
        }
        Array<int, 2> table(2, 3);
        table[1][2] = total;
        out[idx] = table[1][2];
      },
      [](int n) {
        int total = 0;
        for (int i = 0; i < 8; ++i)
          if ((n + i) * (n + i) % 2 == 0) total += (n + i) * (n + i) / 2;
        return total;
      });
}

TEST_CASE("copies of scalars are new variables, and x++ gives the value before") {
  checkKernel(
      [](Array<int, 1> out) {
        Int x = idx;
        Int y = x;
        y += 5;
        Int z = x++;
        Float f = 0.5f;
        Float g = f++;
        out[idx] = x * 1000 + y * 10 + z + cast<int>(g * 2 + f * 2);
      },
      [](int i) { return (i + 1) * 1000 + (i + 5) * 10 + i + 4; });
}

TEST_CASE("where evaluates the chosen branch only") {
  checkKernel(
      [](Array<int, 1> out) {
        Int i = idx;
        Array<int, 1> five(5);
        for (int k = 0; k < 5; ++k) five[k] = 10 * k;
        out[idx] = where(i < 5, five[where(i < 5, i, 0)], 100 / (i - 4 + where(i == 4, 1, 0)));
      },
      [](int i) { return i < 5 ? 10 * i : 100 / (i - 4); });
}

TEST_CASE("&& and || skip the right operand as C does") {
  Array<int, 1> values(8);
  for (int i = 0; i < 8; ++i) values(i) = i;
  checkKernel(
      [](Array<int, 1> out) {
        Array<int, 1> eight(8);
        for (int k = 0; k < 8; ++k) eight[k] = k % 3;
        Int i = idx;
        out[idx] = where(i < 8 && eight[i] == 1, 1, 0) + where(i >= 8 || eight[i] == 2, 2, 0);
      },
      [](int i) { return (i < 8 && i % 3 == 1 ? 1 : 0) + (i >= 8 || i % 3 == 2 ? 2 : 0); });
}

TEST_CASE("old end marks are accepted") {
  checkKernel(
      [](Array<int, 1> out) {
        out[idx] = 0;
        for_(Int i = 0, i < 3, i++) {
          if_(i > 0) {
            out[idx] += i;
          }
          endif_
        }
        endfor_ Int k = 0;
        while_(k < 2) {
          k++;
        }
        endwhile_ out[idx] += k;
        end_
      },
      [](int) { return 5; });
}

TEST_CASE("kernels see the predefined variables of their launch") {
  const auto kernel = [](Array<int, 3> out) {
    out[idz][idy][idx] = cast<int>(idx + 10 * idy + 100 * idz + 1000 * lidx + 10000 * gidy +
                                   100000 * szx + 1000000 * lszy + 10000000 * ngroupsz);
  };
  Array<int, 3> out(2, 6, 4);
  eval(kernel).local(2, 3, 1)(out);
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 4; ++x) {
        INFO("at " << z << ' ' << y << ' ' << x);
        CHECK(out(z, y, x).value() == x + 10 * y + 100 * z + 1000 * (x % 2) + 10000 * (y / 3) +
                                          400000 + 3000000 + 20000000);
      }
}

}  // namespace control_tests
