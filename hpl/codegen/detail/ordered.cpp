// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/detail/ordered.h"

#include <fmt/format.h>

#include "hpl/codegen/detail/types.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {
namespace {

using ir::MemoryOrder;
using ir::MemoryScope;

/// Compilers of CPU devices have the operations of the host's C, which are single instructions on
/// x86, where an exchange would take the cell's cache line away from those who wait for it. PoCL's
/// fences are empty, so that order comes from these, or from the exchanges.
constexpr const char* kOnCpu =
    "#if defined(__x86_64__) || (defined(__aarch64__) && defined(__clang__))\n";

const char* scopeName(MemoryScope scope) {
  return scope == MemoryScope::Group    ? "memory_scope_work_group"
         : scope == MemoryScope::Device ? "memory_scope_device"
                                        : "memory_scope_all_svm_devices";
}

const char* orderOnCpu(MemoryOrder order) {
  return order == MemoryOrder::Relaxed   ? "__ATOMIC_RELAXED"
         : order == MemoryOrder::Acquire ? "__ATOMIC_ACQUIRE"
         : order == MemoryOrder::Release ? "__ATOMIC_RELEASE"
                                         : "__ATOMIC_ACQ_REL";
}

constexpr const char* kFence = "mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);";

std::string nameOf(const char* what, MemoryOrder order, MemoryScope scope) {
  return fmt::format(
      "hpl_{}_{}{}", what, ir::toString(order),
      scope == MemoryScope::Device ? std::string() : std::string("_") + ir::toString(scope));
}

std::string loadBody(const Session& session, const ir::Atomic& atomic, const std::string& type,
                     const std::string& pointer) {
  if (session.options.hasOrderedAtomics)
    return fmt::format("  return atomic_load_explicit(({}atomic_{}*)cell, memory_order_{}, {});\n",
                       pointer, type, ir::toString(atomic.order), scopeName(atomic.scope));
  const bool acquires = atomic.order == MemoryOrder::Acquire;
  return fmt::format(
      "{}  return __atomic_load_n(cell, {});\n#else\n  const {} value = atomic_or(cell, 0);\n{}"
      "  return value;\n#endif\n",
      kOnCpu, orderOnCpu(atomic.order), type, acquires ? fmt::format("  {}\n", kFence) : "");
}

std::string storeBody(const Session& session, const ir::Atomic& atomic, const std::string& type,
                      const std::string& pointer) {
  if (session.options.hasOrderedAtomics)
    return fmt::format("  atomic_store_explicit(({}atomic_{}*)cell, value, memory_order_{}, {});\n",
                       pointer, type, ir::toString(atomic.order), scopeName(atomic.scope));
  const bool releases = atomic.order == MemoryOrder::Release;
  return fmt::format(
      "{}  __atomic_store_n(cell, value, {});\n#else\n{}  atomic_xchg(cell, value);\n"
      "#endif\n",
      kOnCpu, orderOnCpu(atomic.order), releases ? fmt::format("  {}\n", kFence) : "");
}

}  // namespace

std::string orderedHelper(Session& session, const ir::Atomic& atomic) {
  const bool isLoad = atomic.op == ir::AtomicOp::Load;
  const ir::Space space = rootOf(*atomic.target)->space;
  const std::string type = ir::toString(atomic.target->type);
  std::string name = nameOf(isLoad ? "load" : "store", atomic.order, atomic.scope);
  if (type != "int") name += '_' + type;
  if (space == ir::Space::Local) name += "_local";
  std::string& helper = session.ordered[name];
  if (!helper.empty()) return name;
  const std::string pointer = std::string("volatile ") + spaceQualifier(space);
  if (isLoad) {
    helper = fmt::format("{} {}({}{}* const cell) {{\n{}}}\n\n", type, name, pointer, type,
                         loadBody(session, atomic, type, pointer));
  } else {
    helper = fmt::format("void {}({}{}* const cell, const {} value) {{\n{}}}\n\n", name, pointer,
                         type, type, storeBody(session, atomic, type, pointer));
  }
  return name;
}

std::string fenceHelper(Session& session, const ir::Fence& fence) {
  const std::string name = nameOf("fence", fence.order, fence.scope);
  std::string& helper = session.ordered[name];
  if (!helper.empty()) return name;
  const std::string body =
      session.options.hasOrderedAtomics
          ? fmt::format(
                "  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, "
                "memory_order_{}, {});\n",
                ir::toString(fence.order), scopeName(fence.scope))
          : fmt::format("{}  __atomic_thread_fence({});\n#else\n  {}\n#endif\n", kOnCpu,
                        orderOnCpu(fence.order), kFence);
  helper = fmt::format("void {}(void) {{\n{}}}\n\n", name, body);
  return name;
}

}  // namespace hpl::codegen::detail
