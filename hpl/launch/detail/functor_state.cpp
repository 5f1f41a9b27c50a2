// SPDX-License-Identifier: Apache-2.0
// C++ does not tell which members of a closure are references. But their addresses stand in its
// bytes, and an address differs from the numbers that functors usually hold.
#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hpl/launch/detail/kernel_source.h"
#include "hpl/launch/native_function.h"

namespace hpl::launch {
namespace {

using Word = std::uintptr_t;

/// Programs get no memory from here on unless they ask for it: 47 or 48 bits of address.
constexpr Word kBeyondMemory = Word{1} << 48;

bool isWithin(const dl_phdr_info& object, const ElfW(Phdr) & segment, Word address) {
  const Word first = object.dlpi_addr + segment.p_vaddr;
  return segment.p_type == PT_LOAD && address - first < segment.p_memsz;
}

/// The program's own code and data come first in its address space, before its heap and libraries.
Word lowestAddress() {
  Word lowest = std::numeric_limits<Word>::max();
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* result) {
        auto& least = *static_cast<Word*>(result);
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          const auto& segment = program->dlpi_phdr[i];
          if (segment.p_type == PT_LOAD && program->dlpi_addr + segment.p_vaddr < least)
            least = program->dlpi_addr + segment.p_vaddr;
        }
        return 1;  // Only the first object, which is the program.
      },
      &lowest);
  return lowest;
}

/// In the code or the constants of the program or of a library.
bool isReadOnly(Word address) {
  struct Search {
    Word address;
    bool found = false;
  } search{address};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& segment = object->dlpi_phdr[i];
          if (!isWithin(*object, segment, wanted.address)) continue;
          wanted.found = (segment.p_flags & PF_W) == 0;
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

/// The search takes microseconds, so the last addresses that proved harmless are remembered.
bool isConstant(Word address) {
  thread_local std::array<Word, 16> harmless{};
  Word& remembered = harmless[(address >> 4) % harmless.size()];
  if (remembered == address) return true;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the number was read from the functor
  if (!isReadOnly(address) && !isNativeCode(reinterpret_cast<const void*>(address))) return false;
  remembered = address;
  return true;
}

}  // namespace

bool refersToVariables(const void* state, std::size_t bytes) {
  static const Word lowest = lowestAddress();
  for (std::size_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(state) + at, sizeof word);
    if (word >= lowest && word < kBeyondMemory && !isConstant(word)) return true;
  }
  return false;
}

}  // namespace hpl::launch
