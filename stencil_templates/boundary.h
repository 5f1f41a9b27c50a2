// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "hpl/hpl.h"

/// The values that a stencil reads beyond the faces of an array.
namespace hpl {

/// Faces of a domain. LEFT and RIGHT end the last, contiguous dimension (x), UP and DOWN the one
/// before it, FRONT and BACK the first of three. At the first face of each pair indices are 0.
enum class Face : unsigned char { FRONT, BACK, UP, DOWN, LEFT, RIGHT };

namespace stencils {

using detail::Node;

enum class BoundaryKind : unsigned char {
  Untouched,
  Fixed,
  Nearest,
  Mirror,
  MirrorOdd,
  Periodic,
  Computed
};

/// The value beyond a Fixed or Computed face, without its C++ type.
class BoundaryValue {
 public:
  BoundaryValue() = default;
  virtual ~BoundaryValue() = default;
  BoundaryValue(const BoundaryValue&) = delete;
  BoundaryValue& operator=(const BoundaryValue&) = delete;
  /// Records the value at `count` coordinates (int), slowest dimension first.
  virtual Node at(const Node* coordinates, int count) const = 0;
  /// Whether it can be asked with that many coordinates.
  virtual bool takes(int count) const = 0;
};

template <class T>
class FixedValue final : public BoundaryValue {
 public:
  explicit FixedValue(const T& value) : value_(value) {}
  Node at(const Node*, int) const override { return detail::hostConstant(value_); }
  bool takes(int) const override { return true; }

 private:
  T value_;
};

template <class F>
class ComputedValue final : public BoundaryValue {
 public:
  explicit ComputedValue(F f) : f_(std::move(f)) {}
  Node at([[maybe_unused]] const Node* c, int count) const override {
    if constexpr (std::is_invocable_v<const F&, Int>)
      if (count == 1) return detail::nodeOf(f_(coordinate(c[0])));
    if constexpr (std::is_invocable_v<const F&, Int, Int>)
      if (count == 2) return detail::nodeOf(f_(coordinate(c[0]), coordinate(c[1])));
    if constexpr (std::is_invocable_v<const F&, Int, Int, Int>)
      if (count == 3)
        return detail::nodeOf(f_(coordinate(c[0]), coordinate(c[1]), coordinate(c[2])));
    return nullptr;
  }
  bool takes(int count) const override {
    return (count == 1 && std::is_invocable_v<const F&, Int>) ||
           (count == 2 && std::is_invocable_v<const F&, Int, Int>) ||
           (count == 3 && std::is_invocable_v<const F&, Int, Int, Int>);
  }

 private:
  static Int coordinate(Node node) { return Int(Expr<int>(node)); }
  F f_;
};

}  // namespace stencils

/// The values that a stencil reads beyond one face (or all faces) of an input. For cells beyond
/// faces of several dimensions the slowest dimension decides first, as if whole rows were added
/// above and below an array that already has its left and right margins.
class Boundary {
 public:
  explicit Boundary(stencils::BoundaryKind kind,
                    std::shared_ptr<const stencils::BoundaryValue> value = nullptr)
      : kind_(kind), value_(std::move(value)) {}
  stencils::BoundaryKind kind() const noexcept { return kind_; }
  /// Null unless the kind is Fixed or Computed.
  const stencils::BoundaryValue* value() const noexcept { return value_.get(); }

 private:
  stencils::BoundaryKind kind_;
  std::shared_ptr<const stencils::BoundaryValue> value_;
};

/// No cells lie beyond the face: output cells that would need one are not written. The default
/// where no boundary is stated at all.
inline Boundary Untouched() { return Boundary(stencils::BoundaryKind::Untouched); }
/// The same value everywhere, converted to the input's element type as C does.
template <class T>
  requires detail::HostValue<T>
Boundary Fixed(const T& value) {
  using V = detail::ValueOf<T>;
  return Boundary(stencils::BoundaryKind::Fixed,
                  std::make_shared<const stencils::FixedValue<V>>(static_cast<V>(value)));
}
/// The nearest cell inside: cells -1, -2, ... read cell 0.
inline Boundary Nearest() { return Boundary(stencils::BoundaryKind::Nearest); }
/// Mirrored at the edge between cells: cell -1 reads cell 0, cell -2 reads cell 1 (even, or
/// symmetric: nothing flows through the face).
inline Boundary Mirror() { return Boundary(stencils::BoundaryKind::Mirror); }
/// Mirrored with the sign changed (odd, or antisymmetric: the value on the face is 0). For inputs
/// of signed or floating-point elements only.
inline Boundary MirrorOdd() { return Boundary(stencils::BoundaryKind::MirrorOdd); }
/// The array begins again: cell -1 reads the last one. Both faces of a dimension must be periodic.
inline Boundary Periodic() { return Boundary(stencils::BoundaryKind::Periodic); }
/// The value of a kernel-language function: `[](Int y, Int x) { return 0.5f * cast<float>(x); }`.
/// It takes one coordinate for each dimension of the domain; that of the face is outside.
template <class F>
Boundary Computed(F f) {
  return Boundary(stencils::BoundaryKind::Computed,
                  std::make_shared<const stencils::ComputedValue<F>>(std::move(f)));
}

}  // namespace hpl
