// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "hpl/ir/detail/interpreter/lanes.h"

/// Sections 6.12.5 (geometric), 6.12.6 (relational), 6.12.12 (shuffles) and reinterpretation.
namespace hpl::ir::detail {
namespace {

/// The lane type of a vector predicate is as wide as the operand; scalar ones give int.
template <class T>
using SignedLane =
    std::conditional_t<sizeof(T) == 2, std::int16_t,
                       std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;

template <class F>
Operation test1(const Shape& shape, F) {
  return forFloating(shape.args[0].scalar, [&]<class T>() {
    if (!shape.result.isVector()) {
      return lanewise<std::int32_t, T>([](auto x) { return F{}(x) ? 1 : 0; });
    }
    return lanewise<SignedLane<T>, T>([](auto x) { return F{}(x) ? -1 : 0; });
  });
}

template <class F>
Operation test2(const Shape& shape, F) {
  return forFloating(shape.args[0].scalar, [&]<class T>() {
    if (!shape.result.isVector()) {
      return lanewise<std::int32_t, T, T>([](auto x, auto y) { return F{}(x, y) ? 1 : 0; });
    }
    return lanewise<SignedLane<T>, T, T>([](auto x, auto y) { return F{}(x, y) ? -1 : 0; });
  });
}

/// Halves are normal from 2^-14 on, which as a float is normal anyway.
template <class T, class V>
bool isNormal(V x) {
  if (std::is_same_v<T, HalfLane>) return std::isfinite(x) && std::fabs(x) >= 0x1p-14f;
  return std::isnormal(x);
}

Operation normalTest(const Shape& shape) {
  return forFloating(shape.args[0].scalar, [&]<class T>() {
    if (!shape.result.isVector()) {
      return lanewise<std::int32_t, T>([](auto x) { return isNormal<T>(x) ? 1 : 0; });
    }
    return lanewise<SignedLane<T>, T>([](auto x) { return isNormal<T>(x) ? -1 : 0; });
  });
}

/// any() and all(): the most significant bit of each lane; the fourth lane of 3 does not count.
template <bool kAll>
Operation quantifier(const Shape& shape) {
  return forInteger(shape.args[0].scalar, []<class T>() -> Operation {
    return [](const Shape& s, const std::byte* const* args, std::byte* result, std::byte*,
              std::int64_t items) {
      const auto* x = reinterpret_cast<const T*>(args[0]);
      const std::int64_t stride = storedLanes(s.args[0]);
      for (std::int64_t i = 0; i < items; ++i) {
        int set = 0;
        for (int lane = 0; lane < s.args[0].lanes; ++lane) {
          set +=
              static_cast<int>(static_cast<std::uint64_t>(x[i * stride + lane]) >> (kBits<T> - 1)) &
              1;
        }
        const bool holds = kAll ? set == s.args[0].lanes : set > 0;
        reinterpret_cast<std::int32_t*>(result)[i] = holds ? 1 : 0;
      }
    };
  });
}

/// Bits of the second argument where the third has ones.
Operation bitselect(const Shape&) {
  return [](const Shape& s, const std::byte* const* args, std::byte* result, std::byte*,
            std::int64_t items) {
    const std::int64_t n = items * static_cast<std::int64_t>(sizeOf(s.result));
    for (std::int64_t i = 0; i < n; ++i) {
      result[i] = (args[0][i] & ~args[2][i]) | (args[1][i] & args[2][i]);
    }
  };
}

/// select(a, b, c) = c ? b : a. Scalars test the whole condition, vectors the top bit of each lane.
Operation select(const Shape& shape) {
  if (sizeOf(shape.args[2].scalar) != sizeOf(shape.result.scalar)) return nullptr;
  const auto choose = [&]<class C, class T>() {
    if (shape.result.isVector()) {
      return lanewise<T, T, T, C>([](T a, T b, C c) { return c < 0 ? b : a; });
    }
    return lanewise<T, T, T, C>([](T a, T b, C c) { return c != 0 ? b : a; });
  };
  switch (sizeOf(shape.result.scalar)) {
    case 1:
      return choose.template operator()<std::int8_t, std::uint8_t>();
    case 2:
      return choose.template operator()<std::int16_t, std::uint16_t>();
    case 4:
      return choose.template operator()<std::int32_t, std::uint32_t>();
    case 8:
      return choose.template operator()<std::int64_t, std::uint64_t>();
    default:
      return nullptr;
  }
}

template <class T>
double dotOf(const T* a, const T* b, int lanes) {
  double sum = 0;
  for (int i = 0; i < lanes; ++i) {
    sum += times(static_cast<double>(get(a[i])), static_cast<double>(get(b[i])));
  }
  return sum;
}

/// Scaled so that the squares neither overflow nor vanish, which OpenCL forbids.
template <class T>
double lengthOf(const T* a, const T* b, int lanes) {
  double length = 0;
  for (int i = 0; i < lanes; ++i) {
    const double difference =
        static_cast<double>(get(a[i])) - (b == nullptr ? 0.0 : static_cast<double>(get(b[i])));
    length = std::hypot(length, difference);
  }
  return length;
}

enum class Measure { Dot, Length, Distance };

template <Measure kMeasure>
Operation measure(const Shape& shape) {
  return forFloating(shape.args[0].scalar, []<class T>() -> Operation {
    return [](const Shape& s, const std::byte* const* args, std::byte* result, std::byte*,
              std::int64_t items) {
      const int lanes = s.args[0].lanes;
      const std::int64_t stride = storedLanes(s.args[0]);
      for (std::int64_t i = 0; i < items; ++i) {
        const T* a = reinterpret_cast<const T*>(args[0]) + i * stride;
        const T* b = kMeasure == Measure::Length ? nullptr
                                                 : reinterpret_cast<const T*>(args[1]) + i * stride;
        reinterpret_cast<T*>(result)[i] =
            put<T>(kMeasure == Measure::Dot ? dotOf(a, b, lanes) : lengthOf(a, b, lanes));
      }
    };
  });
}

Operation normalize(const Shape& shape) {
  return forFloating(shape.result.scalar, []<class T>() -> Operation {
    return [](const Shape& s, const std::byte* const* args, std::byte* result, std::byte*,
              std::int64_t items) {
      const std::int64_t stride = storedLanes(s.result);
      for (std::int64_t i = 0; i < items; ++i) {
        const T* a = reinterpret_cast<const T*>(args[0]) + i * stride;
        const double length = lengthOf<T>(a, nullptr, s.result.lanes);
        for (int lane = 0; lane < s.result.lanes; ++lane) {
          const double x = static_cast<double>(get(a[lane]));
          reinterpret_cast<T*>(result)[i * stride + lane] = put<T>(length == 0 ? x : x / length);
        }
      }
    };
  });
}

Operation cross(const Shape& shape) {
  if (shape.result.lanes != 3 && shape.result.lanes != 4) return nullptr;
  return forFloating(shape.result.scalar, []<class T>() -> Operation {
    return [](const Shape&, const std::byte* const* args, std::byte* result, std::byte*,
              std::int64_t items) {
      for (std::int64_t i = 0; i < items; ++i) {
        const T* a = reinterpret_cast<const T*>(args[0]) + 4 * i;
        const T* b = reinterpret_cast<const T*>(args[1]) + 4 * i;
        T* to = reinterpret_cast<T*>(result) + 4 * i;
        for (int lane = 0; lane < 3; ++lane) {
          const int j = (lane + 1) % 3;
          const int k = (lane + 2) % 3;
          to[lane] = put<T>(times(static_cast<double>(get(a[j])), static_cast<double>(get(b[k]))) -
                            times(static_cast<double>(get(a[k])), static_cast<double>(get(b[j]))));
        }
        to[3] = put<T>(0.0);
      }
    };
  });
}

/// shuffle and shuffle2: lanes of the source(s) that the mask, modulo their number, names.
template <int kSources>
Operation shuffle(const Shape& shape) {
  return forInteger(shape.args[kSources].scalar, []<class M>() -> Operation {
    return [](const Shape& s, const std::byte* const* args, std::byte* result, std::byte*,
              std::int64_t items) {
      const std::size_t size = sizeOf(s.result.scalar);
      const std::size_t lanes = static_cast<std::size_t>(storedLanes(s.args[0]));
      const std::int64_t to = storedLanes(s.result);
      const auto* mask = reinterpret_cast<const M*>(args[kSources]);
      for (std::int64_t i = 0; i < items * to; ++i) {
        const std::size_t lane = static_cast<std::size_t>(mask[i]) & (kSources * lanes - 1);
        const std::byte* source = args[lane / lanes];
        const std::size_t position = static_cast<std::size_t>(i / to) * lanes + lane % lanes;
        std::memcpy(result + static_cast<std::size_t>(i) * size, source + position * size, size);
      }
    };
  });
}

}  // namespace

Operation findGeometric(Builtin builtin, const Shape& shape) {
  switch (builtin) {
    case Builtin::cross_:
      return cross(shape);
    case Builtin::dot_:
      return measure<Measure::Dot>(shape);
    case Builtin::distance_:
    case Builtin::fast_distance_:
      return measure<Measure::Distance>(shape);
    case Builtin::length_:
    case Builtin::fast_length_:
      return measure<Measure::Length>(shape);
    case Builtin::normalize_:
    case Builtin::fast_normalize_:
      return normalize(shape);
    default:
      return nullptr;
  }
}

Operation findRelational(Builtin builtin, const Shape& s) {
  switch (builtin) {
    case Builtin::isequal_:
      return test2(s, [](auto x, auto y) { return x == y; });
    case Builtin::isnotequal_:
      return test2(s, [](auto x, auto y) { return x != y; });
    case Builtin::isgreater_:
      return test2(s, [](auto x, auto y) { return x > y; });
    case Builtin::isgreaterequal_:
      return test2(s, [](auto x, auto y) { return x >= y; });
    case Builtin::isless_:
      return test2(s, [](auto x, auto y) { return x < y; });
    case Builtin::islessequal_:
      return test2(s, [](auto x, auto y) { return x <= y; });
    case Builtin::islessgreater_:
      return test2(s, [](auto x, auto y) { return x < y || x > y; });
    case Builtin::isfinite_:
      return test1(s, [](auto x) { return std::isfinite(x); });
    case Builtin::isinf_:
      return test1(s, [](auto x) { return std::isinf(x); });
    case Builtin::isnan_:
      return test1(s, [](auto x) { return std::isnan(x); });
    case Builtin::isnormal_:
      return normalTest(s);
    case Builtin::isordered_:
      return test2(s, [](auto x, auto y) { return !std::isunordered(x, y); });
    case Builtin::isunordered_:
      return test2(s, [](auto x, auto y) { return std::isunordered(x, y); });
    case Builtin::signbit_:
      return test1(s, [](auto x) { return std::signbit(x); });
    case Builtin::any_:
      return quantifier<false>(s);
    case Builtin::all_:
      return quantifier<true>(s);
    case Builtin::bitselect_:
      return bitselect(s);
    case Builtin::select_:
      return select(s);
    default:
      return nullptr;
  }
}

Operation findRearranging(Builtin builtin, const Shape& shape) {
  switch (builtin) {
    case Builtin::shuffle_:
      return shuffle<1>(shape);
    case Builtin::shuffle2_:
      return shuffle<2>(shape);
    case Builtin::as_type_:
      if (sizeOf(shape.result) != sizeOf(shape.args[0])) return nullptr;
      return [](const Shape& s, const std::byte* const* args, std::byte* result, std::byte*,
                std::int64_t items) {
        std::memcpy(result, args[0], static_cast<std::size_t>(items) * sizeOf(s.result));
      };
    default:
      return nullptr;
  }
}

Operation findBuiltin(Builtin builtin, const Shape& shape) {
  switch (infoOf(builtin).family) {
    case BuiltinFamily::Math:
      return findMath(builtin, shape);
    case BuiltinFamily::Integer:
      return findInteger(builtin, shape);
    case BuiltinFamily::Common:
      return findCommon(builtin, shape);
    case BuiltinFamily::Geometric:
      return findGeometric(builtin, shape);
    case BuiltinFamily::Relational:
      return findRelational(builtin, shape);
    case BuiltinFamily::Reinterpret:
    case BuiltinFamily::Vector:
      return findRearranging(builtin, shape);
  }
  return nullptr;
}

}  // namespace hpl::ir::detail
