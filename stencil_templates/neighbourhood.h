// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "hpl/hpl.h"

/// The parameters of a stencil's point function.
namespace hpl {

namespace stencils {

using detail::Node;

/// How far from the centre a point function reads in one dimension.
struct Offset {
  /// Null: `constant` holds.
  Node node = nullptr;
  std::int64_t constant = 0;
};

/// Records the reads of a point function: differently inside the domain and at its border.
class CellReader {
 public:
  /// The value at these offsets (slowest dimension first) from the work-item's cell of an input.
  virtual Node read(int input, const Offset* offsets) = 0;

 protected:
  ~CellReader() = default;
};

template <class X>
Offset offsetOf(const X& x) {
  using V = detail::ValueOf<X>;
  if constexpr (detail::KernelValue<X>) {
    return {detail::nodeOf(x), 0};
  } else {
    return {nullptr, static_cast<std::int64_t>(static_cast<V>(x))};
  }
}

/// The type of `p[dy]`, which is a mistake, and of `p[dy][dx]`.
template <class T>
struct NoCell : Expr<T> {
  template <class X>
  const NoCell& operator[](const X&) const {
    return *this;
  }
};

/// Types that may be an offset of a neighbourhood.
template <class X>
concept OffsetValue = Operand<X> && std::is_integral_v<detail::ValueOf<X>>;

}  // namespace stencils

/// The cells of one input around the work-item's own. `p(dy, dx)` is dy rows down and dx columns to
/// the right, `p(dx)` and `p(dz, dy, dx)` the same in one and three dimensions, and `p()` the
/// centre. Offsets are C++ integers, or kernel expressions such as variables of loops with constant
/// bounds, so that the library knows the reach. Throws KernelError at the launch for other offsets.
/// `idx`, `idy`, `idz` are the position of the centre in the arrays.
template <class T, int N>
class Neighbourhood {
  static_assert(N >= 1 && N <= 3, "HPL: stencils have one to three dimensions");
  static_assert(ElementType<T>, "HPL: Neighbourhood<T, N> needs an element type of arrays");

 public:
  using value_type = T;

  Neighbourhood(stencils::CellReader& reader, int input) : reader_(&reader), input_(input) {}

  Expr<T> operator()(const std::source_location& where = std::source_location::current()) const {
    const stencils::Offset offsets[N] = {};
    return read(offsets, where);
  }
  template <stencils::OffsetValue X>
    requires(N == 1)
  Expr<T> operator()(const X& dx,
                     const std::source_location& where = std::source_location::current()) const {
    const stencils::Offset offsets[1] = {stencils::offsetOf(dx)};
    return read(offsets, where);
  }
  template <stencils::OffsetValue Y, stencils::OffsetValue X>
    requires(N == 2)
  Expr<T> operator()(const Y& dy, const X& dx,
                     const std::source_location& where = std::source_location::current()) const {
    const stencils::Offset offsets[2] = {stencils::offsetOf(dy), stencils::offsetOf(dx)};
    return read(offsets, where);
  }
  template <stencils::OffsetValue Z, stencils::OffsetValue Y, stencils::OffsetValue X>
    requires(N == 3)
  Expr<T> operator()(const Z& dz, const Y& dy, const X& dx,
                     const std::source_location& where = std::source_location::current()) const {
    const stencils::Offset offsets[3] = {stencils::offsetOf(dz), stencils::offsetOf(dy),
                                         stencils::offsetOf(dx)};
    return read(offsets, where);
  }

  // Errors, unless one of the above can be meant.
  template <class... X>
    requires(sizeof...(X) > 0 && (sizeof...(X) != N || !(stencils::OffsetValue<X> && ...)))
  Expr<T> operator()(const X&...) const {
    constexpr bool kCount = sizeof...(X) == N;
    static_assert(kCount,
                  "HPL: a neighbourhood of N dimensions is read with N offsets: p(dx), p(dy, dx), "
                  "p(dz, dy, dx), or p() for the centre");
    static_assert(!kCount,
                  "HPL: offsets of a neighbourhood are integers: C++ ones or Int expressions");
    return detail::noResult<Expr<T>>();
  }
  template <class X>
  stencils::NoCell<T> operator[](const X&) const {
    static_assert(detail::kNever<X>,
                  "HPL: the cells of a neighbourhood are p(dx), p(dy, dx) or p(dz, dy, dx)");
    return detail::noResult<stencils::NoCell<T>>();
  }

 private:
  Expr<T> read(const stencils::Offset* offsets, const std::source_location& where) const {
    detail::setLocation(where);
    return Expr<T>(reader_->read(input_, offsets));
  }

  stencils::CellReader* reader_;
  int input_;
};

/// The work-item's cell of one output: `next = expression;`. A cell that the point function leaves
/// out keeps the output array's old value. Reading it before it was assigned is an error.
template <class T>
class Output : public Ref<T> {
 public:
  using value_type = T;
  explicit Output(detail::Node cell) : Ref<T>(cell) {}
  Output(const Output&) = default;
  Output& operator=(const Output& other) {
    Ref<T>::operator=(other);
    return *this;
  }
  using Ref<T>::operator=;
};

}  // namespace hpl
