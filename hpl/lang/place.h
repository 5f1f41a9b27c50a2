// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "hpl/lang/expr.h"

/// Places: what can stand left of `=` in a kernel.
namespace hpl {

namespace detail {

/// Assignment operators of everything that can stand left of `=` in a kernel. C++ evaluates these
/// once per capture; each records one statement.
template <class Derived, class T>
class Assignable {
 public:
  using hpl_place = T;

  /// See Result.
  template <class X>
  using Compounded = std::conditional_t<kIndexed<X>, Derived&, MissingIndex<T>>;

#define HPL_COMPOUND(symbol)                                    \
  template <Operand X>                                          \
  Compounded<X> operator symbol##=(const X& x) {                \
    if constexpr (kIndexed<X>) {                                \
      assignNode(self().node(), converted<T>(self() symbol x)); \
    }                                                           \
    return self();                                              \
  }
  HPL_COMPOUND(+)
  HPL_COMPOUND(-)
  HPL_COMPOUND(*)
  HPL_COMPOUND(/)
  HPL_COMPOUND(%)
  HPL_COMPOUND(&)
  HPL_COMPOUND(|)
  HPL_COMPOUND(^)
  HPL_COMPOUND(<<)
  HPL_COMPOUND(>>)
#undef HPL_COMPOUND

  Derived& operator++() { return self() += 1; }
  Derived& operator--() { return self() -= 1; }
  /// The value before the increment, as an expression of the value after it.
  Expr<T> operator++(int) { return stepped(1); }
  Expr<T> operator--(int) { return stepped(-1); }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  Expr<T> stepped(int by) {
    if constexpr (std::is_integral_v<T>) {
      // Wrapping integers: (x + 1) - 1 is x, so no temporary is needed.
      self() += by;
      return Expr<T>(converted<T>(self() - by));
    } else {
      const Node before =
          variableNode(declareVariable(irType<T>(), ir::Space::Private, 0, nullptr, self().node()));
      self() += by;
      return Expr<T>(before);
    }
  }
};

/// A new variable with the value that a place has now.
template <class T>
Node savedValue(Node place) {
  return variableNode(declareVariable(irType<T>(), ir::Space::Private, 0, nullptr, place));
}
template <class T>
void swapPlaces(Node a, Node b) {
  const Node saved = savedValue<T>(a);
  assignNode(a, b);
  assignNode(b, saved);
}

/// An assignable part of a place.
template <class T>
class PlacePart : public Members<T, PlacePart>,
                  public Lanes<PlacePart<T>, T, Ref>,
                  public NoHostValue<T>,
                  public Assignable<PlacePart<T>, T> {
 public:
  using hpl_value_type = T;
  PlacePart() = default;
  PlacePart(const PlacePart&) = default;
  /// Of a place, which names what std::swap would take for a value.
  PlacePart(PlacePart&&) = delete;
  PlacePart& operator=(const PlacePart& other) {
    assignNode(node(), other.node());
    return *this;
  }
  template <class X>
  PlacePart& operator=(const X& x) {
    static_assert(kIndexed<X>, HPL_INDEX_IS_MISSING);
    assignNode(node(), converted<T>(x));
    return *this;
  }
  friend void swap(const PlacePart& a, const PlacePart& b) { swapPlaces<T>(a.node(), b.node()); }
  Node node() const { return part_.node(); }
  void bindLane(Node whole, std::size_t lane) { part_.set(whole, lane, true); }
  void bindField(Node whole, std::size_t field) {
    part_.set(whole, field, false);
    if constexpr (!ScalarType<T> && !ComplexType<T>) this->bindMembers(node());
  }

 private:
  PartOf part_;
};

}  // namespace detail

/// Something assignable in a kernel: an array element, a vector lane, a struct field.
/// Copying a Ref names the same place, moving one gives a variable; assigning to it records a
/// store.
template <class T>
class Ref : public detail::Lanes<Ref<T>, T, Ref>,
            public detail::Members<T, detail::PlacePart>,
            public detail::NoHostValue<T>,
            public detail::Assignable<Ref<T>, T> {
 public:
  using hpl_value_type = T;
  explicit Ref(detail::Node node) : node_(node) { this->bindMembers(node); }
  Ref(const Ref& other) : Ref(other.node_) {}
  /// Of std::swap, and of arguments that are passed on by value: a variable with the value of now.
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it records a declaration
  Ref(Ref&& other) : Ref(detail::savedValue<T>(other.node_)) {}
  Ref& operator=(const Ref& other) {
    detail::assignNode(node_, other.node_);
    return *this;
  }
  template <class X>
  Ref& operator=(const X& x) {
    static_assert(detail::kIndexed<X>, HPL_INDEX_IS_MISSING);
    detail::assignNode(node_, detail::converted<T>(x));
    return *this;
  }
  friend void swap(const Ref& a, const Ref& b) { detail::swapPlaces<T>(a.node_, b.node_); }
  detail::Node node() const { return node_; }

  /// Field of a registered struct: `v.at(&S::f)`.
  template <class C, class F>
    requires std::same_as<C, T>
  Ref<F> at(F C::*field) const {
    return Ref<F>(detail::memberNode(node_, detail::fieldIndex(field)));
  }

 private:
  detail::Node node_;
};

}  // namespace hpl
