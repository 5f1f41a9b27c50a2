// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

#include "hpl/lang/expr.h"

/// Structs as element types. At global scope,
///
///     HPL_STRUCT(Particle, (float4, position), (int, id))
///
/// defines `struct Particle { float4 position; int id; };` and registers it: Array<Particle, 1>
/// works on host and devices, and kernels write `p[idx].id = 3` or `p[idx].at(&Particle::id) = 3`.
namespace hpl::detail {

/// Makes the struct type; it lives for the whole program. Throws KernelError when two different
/// structs have one name.
const ir::StructType& registerStruct(const char* name, std::size_t size, std::size_t alignment,
                                     std::initializer_list<ir::Field> fields);
/// The same from the text of the struct's body, "{int i; float f;}". Throws KernelError for what it
/// cannot read and when its layout is not that of the host's struct.
const ir::StructType& registerStructText(const char* name, std::size_t size, std::size_t alignment,
                                         const char* body);
/// A value from its fields, converted to their types. Throws KernelError for a wrong number.
Node structNode(const ir::StructType& type, std::initializer_list<Node> fields);
/// A host value as a constant.
Node structConstant(const ir::StructType& type, const void* value);
/// The field at a byte offset.
std::size_t fieldAt(const ir::StructType& type, std::size_t offset);

template <class S, class F>
std::size_t offsetOfMember(F S::*member) {
  alignas(S) static const std::byte storage[sizeof(S)] = {};
  const S* object = reinterpret_cast<const S*>(storage);
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(object->*member)) - storage);
}

/// Conditions of the language on a registered struct, given StructTraits<S>::type().
template <class S>
struct StructParts {
  template <class F>
  static std::size_t indexOf(F S::*member) {
    return fieldAt(StructTraits<S>::type(), offsetOfMember(member));
  }
  static Node constant(const S& value) { return structConstant(StructTraits<S>::type(), &value); }
  template <class... N>
  static Expr<S> make(N... parts) {
    return Expr<S>(structNode(StructTraits<S>::type(), {parts...}));
  }
};

}  // namespace hpl::detail

/// The types of the fields of structs, by the struct's name.
namespace hpl_struct_fields {
using namespace ::hpl::element_types;
using ::hpl::half;
}  // namespace hpl_struct_fields

// Recursion by __VA_OPT__ instead of a library: programs that include hpl.h need no other headers,
// which costs each of them neither a package nor compile time.
#define HPL_STRUCT_EXPAND(...) \
  HPL_STRUCT_EXPAND_2(HPL_STRUCT_EXPAND_2(HPL_STRUCT_EXPAND_2(__VA_ARGS__)))
#define HPL_STRUCT_EXPAND_2(...) \
  HPL_STRUCT_EXPAND_1(HPL_STRUCT_EXPAND_1(HPL_STRUCT_EXPAND_1(__VA_ARGS__)))
#define HPL_STRUCT_EXPAND_1(...) \
  HPL_STRUCT_EXPAND_0(HPL_STRUCT_EXPAND_0(HPL_STRUCT_EXPAND_0(__VA_ARGS__)))
#define HPL_STRUCT_EXPAND_0(...) __VA_ARGS__
#define HPL_STRUCT_PARENS ()
#define HPL_STRUCT_EACH(macro, name, ...) \
  __VA_OPT__(HPL_STRUCT_EXPAND(HPL_STRUCT_STEP(macro, name, __VA_ARGS__)))
#define HPL_STRUCT_STEP(macro, name, field, ...)                             \
  HPL_STRUCT_CALL(macro, name, HPL_STRUCT_TYPE field, HPL_STRUCT_NAME field) \
  __VA_OPT__(HPL_STRUCT_AGAIN HPL_STRUCT_PARENS(macro, name, __VA_ARGS__))
#define HPL_STRUCT_AGAIN() HPL_STRUCT_STEP
// The indirection expands the field's parts before `macro` may stringify them.
#define HPL_STRUCT_CALL(macro, name, type, field) macro(name, type, field)
#define HPL_STRUCT_TYPE(type, field) type
#define HPL_STRUCT_NAME(type, field) field

// Types are looked up where OpenCL's names are known, also in front of `using namespace hpl`.
#define HPL_STRUCT_USING(name, type, field) using field##_type = type;
#define HPL_STRUCT_MEMBER(name, type, field) \
  ::hpl_struct_fields::fields_of_##name::field##_type field;
#define HPL_STRUCT_FIELD(name, type, field)                                                      \
  ::hpl::ir::Field{#field, ::hpl::irType<::hpl_struct_fields::fields_of_##name::field##_type>(), \
                   offsetof(name, field)},
#define HPL_STRUCT_PART(name, type, field) \
  Part<::hpl_struct_fields::fields_of_##name::field##_type> field;
#define HPL_STRUCT_BIND(name, type, field) field.bindField(whole, index++);

/// Defines and registers a struct; use it at global scope. Each field is (type, name).
#define HPL_STRUCT(name, ...)                                                                    \
  namespace hpl_struct_fields {                                                                  \
  struct fields_of_##name {                                                                      \
    HPL_STRUCT_EACH(HPL_STRUCT_USING, name, __VA_ARGS__)                                         \
  };                                                                                             \
  }                                                                                              \
  struct name {                                                                                  \
    HPL_STRUCT_EACH(HPL_STRUCT_MEMBER, name, __VA_ARGS__)                                        \
  };                                                                                             \
  template <template <class> class Part>                                                         \
  struct hpl::detail::Members<name, Part> {                                                      \
    HPL_STRUCT_EACH(HPL_STRUCT_PART, name, __VA_ARGS__)                                          \
    void bindMembers(::hpl::detail::Node whole) {                                                \
      std::size_t index = 0;                                                                     \
      HPL_STRUCT_EACH(HPL_STRUCT_BIND, name, __VA_ARGS__)                                        \
    }                                                                                            \
  };                                                                                             \
  template <>                                                                                    \
  struct hpl::StructTraits<name> : ::hpl::detail::StructParts<name> {                            \
    static const ::hpl::ir::StructType& type() {                                                 \
      static const ::hpl::ir::StructType& registered =                                           \
          ::hpl::detail::registerStruct(#name, sizeof(name), alignof(name),                      \
                                        {HPL_STRUCT_EACH(HPL_STRUCT_FIELD, name, __VA_ARGS__)}); \
      return registered;                                                                         \
    }                                                                                            \
  }

/// Older form: `HPL_DEFINE_STRUCT(Pair, {int i; float f;});`. Fields are reached in kernels with
/// `v.at(&Pair::f)` only.
#define HPL_DEFINE_STRUCT(name, ...)                                                           \
  struct name __VA_ARGS__;                                                                     \
  template <>                                                                                  \
  struct hpl::StructTraits<name> : ::hpl::detail::StructParts<name> {                          \
    static const ::hpl::ir::StructType& type() {                                               \
      static const ::hpl::ir::StructType& registered =                                         \
          ::hpl::detail::registerStructText(#name, sizeof(name), alignof(name), #__VA_ARGS__); \
      return registered;                                                                       \
    }                                                                                          \
  }
