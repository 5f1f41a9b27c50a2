// SPDX-License-Identifier: Apache-2.0
// C++ jumps out of the bodies of if_, for_ and their like, which run once, while a kernel is
// recorded.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace jumps_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

constexpr const char* kAdvice =
    "is left by C++ return, break or goto, which would end the recording there for all work-items. "
    "Use return_() in kernels, return_(value) in functions that are called as call(f)(arguments), "
    "break_ or continue_ in loops, or where(condition, a, b) for a value";

template <class K>
std::string messageIn(const K& kernel) {
  Array<float, 1> a(8);
  a = -3.0f;
  const std::string message = messageOf<KernelError>([&] { eval(kernel)(a); });
  // A kernel that cannot be recorded has done nothing.
  for (int i = 0; i < 8; ++i) CHECK(a(i).value() == -3.0f);
  return message;
}

Float magnitude(Float v) {
  if_(v > 0.0f) {
    return v;
  }
  return -v;
}

Float magnitudeNoexcept(Float v) noexcept {
  if_(v > 0.0f) {
    return v;
  }
  return -v;
}

Float signOf(Float v) {
  if_(v > 0.0f) {
    return 1.0f;
  }
  elseif_(v < 0.0f) {
    return -1.0f;
  }
  else_ { return 0.0f; }
  return 0.0f;
}

Float4 brighter(Float4 v) {
  if_(v.x > 0.0f) {
    return v;
  }
  return -v;
}

Float twiceMagnitude(Float v) { return 2.0f * magnitude(v); }

void direct(Array<float, 1> a) { a[idx] = magnitude(a[idx]); }
void nested(Array<float, 1> a) { a[idx] = twiceMagnitude(a[idx]) + 1.0f; }
void called(Array<float, 1> a) { a[idx] = call(magnitude)(a[idx]); }
void calledNested(Array<float, 1> a) { a[idx] = call(twiceMagnitude)(a[idx]); }
void early(Array<float, 1> a) {
  if_(idx > 3) {
    return;
  }
  a[idx] = 1.0f;
}
void last(Array<float, 1> a) {
  if_(idx > 3) {
    a[idx] = 1.0f;
    return;
  }
}

struct Functor {
  float limit;
  void operator()(Array<float, 1> a) const {
    for_(Int i = 0, i < 4, i++) {
      if_(a[i] > limit) {
        return;
      }
    }
    a[idx] = limit;
  }
};

}  // namespace

TEST_CASE("a C++ return inside if_ is an error that names the kernel, the line and the way out") {
  const std::string message = messageIn(early);
  CHECK_MESSAGE(contains(message, "kernel 'early': the body of the if_ in line "), message);
  CHECK_MESSAGE(contains(message, "jumps_tests.cpp "), message);
  CHECK_MESSAGE(contains(message, kAdvice), message);
}

TEST_CASE("so is one at the very end of a kernel") {
  CHECK(contains(messageIn(last), "kernel 'last': the body of the if_"));
}

TEST_CASE("so is one in a function that the kernel calls, directly, through others, or by call") {
  for (const auto kernel : {direct, nested, called, calledNested}) {
    const std::string message = messageIn(kernel);
    CHECK_MESSAGE(contains(message, "the body of the if_ in line "), message);
    CHECK_MESSAGE(contains(message, "'magnitude'"), message);
    CHECK_MESSAGE(contains(message, kAdvice), message);
  }
}

TEST_CASE("a function that is noexcept, or returns a vector, gives the same error") {
  CHECK(contains(messageIn([](Array<float, 1> a) { a[idx] = magnitudeNoexcept(a[idx]); }),
                 "the body of the if_"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   Float4 v = make<float4>(a[idx], 1.0f, 2.0f, 3.0f);
                   Float4 w = brighter(v);
                   a[idx] = w.x;
                 }),
                 "the body of the if_"));
}

TEST_CASE("a C++ return in elseif_ and else_, in loops and in functors is an error too") {
  CHECK(contains(messageIn([](Array<float, 1> a) { a[idx] = signOf(a[idx]); }), "of the if_"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   if_(idx < 2) {
                     a[idx] = 0.0f;
                   }
                   elseif_(idx < 4) {
                     return;
                   }
                   a[idx] = 1.0f;
                 }),
                 "the body of the elseif_"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   if_(idx < 2) {
                     a[idx] = 0.0f;
                   }
                   else_ { return; }
                   a[idx] = 1.0f;
                 }),
                 "the body of the else_"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   for_(Int i = 0, i < 3, i++) {
                     a[idx] += 1.0f;
                     return;
                   }
                 }),
                 "the body of the for_"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   while_(a[idx] < 3.0f) {
                     a[idx] += 1.0f;
                     return;
                   }
                 }),
                 "the body of the while_"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   do_ {
                     a[idx] += 1.0f;
                     return;
                   }
                   dowhile_(a[idx] < 3.0f);
                 }),
                 "the body of the do_"));
  // The innermost body is left first.
  CHECK(contains(messageIn(Functor{2.0f}), "the body of the if_"));
}

TEST_CASE("C++ break and goto may not leave bodies either") {
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   for (int k = 0; k < 4; ++k) {
                     if_(a[idx] > static_cast<float>(k)) {
                       break;
                     }
                     a[idx] += 1.0f;
                   }
                 }),
                 kAdvice));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   for_(Int i = 0, i < 4, i++) {
                     a[idx] += 1.0f;
                     break;
                   }
                 }),
                 "the body of the for_"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   while_(a[idx] < 4.0f) {
                     a[idx] += 1.0f;
                     break;
                   }
                 }),
                 "the body of the while_"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   if_(a[idx] > 1.0f) {
                     goto end;
                   }
                   a[idx] = 1.0f;
                 end:
                   a[idx] = 2.0f;
                 }),
                 "the body of the if_"));
}

TEST_CASE("an error that the kernel swallows is an error all the same") {
  const std::string message = messageIn([](Array<float, 1> a) {
    try {
      a[idx] = magnitude(a[idx]);
    } catch (const KernelError&) {
    }
    try {
      a[idx] = 2.0f;
    } catch (const KernelError&) {
    }
  });
  CHECK_MESSAGE(contains(message, kAdvice), message);
}

TEST_CASE("an exception that leaves a body stays what it is") {
  Array<float, 1> a(8);
  const auto throwing = [](Array<float, 1> x) {
    for_(Int i = 0, i < 4, i++) {
      if_(x[i] > 0.0f) {
        do_ {
          x[idx] = 1.0f;
          throw std::runtime_error("from the kernel");
        }
        dowhile_(x[idx] < 1.0f);
      }
    }
  };
  CHECK(messageOf<std::runtime_error>([&] { eval(throwing)(a); }) == "from the kernel");
  CHECK(messageOf<std::runtime_error>([&] { eval(throwing)(a); }) == "from the kernel");
}

TEST_CASE("an exception that leaves a body and is caught in the kernel spoils the kernel") {
  const std::string message = messageIn([](Array<float, 1> a) {
    try {
      if_(a[idx] > 0.0f) {
        a[idx] = 1.0f;
        throw 3;
      }
    } catch (int) {
    }
    a[idx] = 2.0f;
  });
  CHECK_MESSAGE(contains(message, "was left by an exception that the kernel caught"), message);
}

TEST_CASE(
    "kernels that were refused harm no later ones, and C++ jumps outside of bodies are fine") {
  (void)messageIn(early);
  Array<int, 1> out(8);
  out = 0;
  const auto kernel = [](Array<int, 1> o) {
    for (int k = 0; k < 10; ++k) {
      if (k == 1) continue;
      if (k == 3) break;
      if_(idx > 2) {
        o[idx] += 1 + k;
      }
    }
    const auto chosen = [](Int v, bool doubled) -> Int {
      if (doubled) return v + v;
      return v;
    };
    if_(idx == 7) {
      o[idx] = chosen(o[idx], true);
      return_();
    }
    o[idx] += 100;
  };
  eval(kernel)(out);
  for (int i = 0; i < 8; ++i) CHECK(out(i).value() == (i == 7 ? 8 : i > 2 ? 104 : 100));
}

TEST_CASE("C++ continue in the body of a loop goes on with the next statement behind the body") {
  Array<int, 1> out(6);
  out = 0;
  const auto kernel = [](Array<int, 1> o) {
    for_(Int i = 0, i < 3, i++) {
      o[idx] += i;
      if (true) continue;
      o[idx] += 1000;
    }
  };
  eval(kernel)(out);
  CHECK(out(5).value() == 3);
}

TEST_CASE("an else of C++ belongs to its own if, whatever if_ or loop stands between") {
  for (const bool host : {true, false}) {
    Array<int, 1> out(4);
    out = 0;
    reeval([host](Array<int, 1> o) {
      if (host)
        if_(idx > 1) {
          o[idx] = 1;
        }
      else
        o[idx] = 2;
      if (host)
        for_(Int i = 0, i < 2, i++) {
          o[idx] += 10;
        }
      else
        o[idx] += 20;
    })(out);
    CHECK(out(0).value() == (host ? 20 : 22));
    CHECK(out(3).value() == (host ? 21 : 22));
  }
}

TEST_CASE("do_ and dowhile_ need each other") {
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   if_(idx > 1) {
                     do_ { a[idx] += 1.0f; }
                   }
                 }),
                 "a do_ lacks its dowhile_(condition)"));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   a[idx] += 1.0f;
                   dowhile_(a[idx] < 3.0f);
                 }),
                 "dowhile_ without a do_ right before it"));
}

TEST_CASE("a loop that its condition cannot end is refused") {
  const auto refused = [](auto kernel) {
    return contains(messageIn(kernel), "none of its statements changes its condition");
  };
  // C++ counts, once.
  CHECK(refused([](Array<float, 1> a) {
    for_(int i = 0, i < 3, i++) {
      a[idx] += 1.0f;
    }
  }));
  CHECK(refused([](Array<float, 1> a) {
    Int n = 3;
    for_(int i = 0, i < n, i++) {
      if_(a[idx] > 2.0f) {
        break_;
      }
      a[idx] += 1.0f;
    }
  }));
  CHECK(refused([](Array<float, 1> a) {
    int i = 0;
    while_(i < 3) {
      a[idx] += 1.0f;
      i++;
    }
  }));
  // Another variable is counted, or that of an inner loop is left.
  CHECK(refused([](Array<float, 1> a) {
    Int j = 0;
    for_(Int i = 0, i < 3, j++) {
      a[idx] += 1.0f;
    }
  }));
  CHECK(refused([](Array<float, 1> a) {
    Float x = a[idx];
    while_(x<3.0f && idx> 0) {
      for_(Int i = 0, i < 3, i++) {
        if_(i > 1) {
          break_;
        }
      }
      a[idx] += 1.0f;
    }
  }));
  CHECK(refused([](Array<float, 1> a) {
    Float x = a[idx];
    do_ { a[idx] += x; }
    dowhile_(x < 3.0f);
  }));
  CHECK(contains(messageIn([](Array<float, 1> a) {
                   Float x = a[idx];
                   do_ { x += 1.0f; }
                   while_(x < 3.0f) {
                   }
                   a[idx] = x;
                 }),
                 "The end of a do_ is dowhile_(condition)"));
}

TEST_CASE("loops that break_, return_, memory or a variable of the body end are accepted") {
  Array<float, 1> a(4);
  a = 0.0f;
  eval([](Array<float, 1> o) {
    Int turns = 0;
    while_(true) {
      turns += 1;
      if_(turns == 5) {
        break_;
      }
    }
    for_(Int i = 0, true, i++) {
      if_(i == 7) {
        break_;
      }
      turns += 1;
    }
    while_(false) {
      turns += 1000;
    }
    do_ { turns += 1; }
    dowhile_(false);
    o[idx] = turns;  // 13
    while_(o[idx] < 20.0f) {
      o[idx] += 1.0f;
    }
    Int left = 4;
    for_(, left > 0, ) {
      left -= 2;
    }
    while_(left < 3) {
      for_(Int k = 0, k < 2, k++) {
        if_(k == 1) {
          left += 1;
        }
      }
    }
    o[idx] += left;  // 23
    while_(idx < 100) {
      o[idx] += 1.0f;
      if_(o[idx] > 30.0f) {
        return_();
      }
    }
  })(a);
  CHECK(a(3) == 31.0f);
}

}  // namespace jumps_tests
