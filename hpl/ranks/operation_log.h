// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace hpl::ranks {

/// Identifies the operation to which a message belongs. The same on all ranks that do the same.
struct OperationMark {
  std::uint64_t number = 0;  ///< Counted from 1; 0: none.
  std::uint64_t hash = 0;    ///< This operation and all before it.
  char what[112] = {};       ///< For people; cut where it is longer.

  bool matches(const OperationMark& other) const noexcept {
    return number == other.number && hash == other.hash;
  }
};
static_assert(sizeof(OperationMark) == 128);

/// Mixes a word into a hash. The result is the same in every process.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}
std::uint64_t mixed(std::uint64_t hash, std::string_view text) noexcept;

struct Whereabouts;

/// The operations that the ranks do together, counted. All ranks have to come by the same ones in
/// the same order; those that do not are found out when they meet.
class OperationLog {
 public:
  /// The next operation begins. `what`: "launch of 'heat'"; `content`: hash of all that tells it
  /// from others.
  void begin(std::string_view what, std::uint64_t content);
  OperationMark current() const;
  /// Tells the name of the operation, found out only now, and a hash of its other details.
  void rename(std::string_view what, std::uint64_t content);
  /// The hash of both, which is open from rename() until then; 0: nothing is.
  std::uint64_t takeOpen();
  /// All ranks found out the same: counts as content from the next operation on.
  void confirm(std::uint64_t open);
  /// For another rank that asks where this one is: Whereabouts as bytes.
  std::string answer() const;
  /// Whether a rank that answered so has come there by other operations, as far as both remember.
  bool disagreesWith(const Whereabouts& other) const;

 private:
  void setWhat(std::string_view what);

  mutable std::mutex mutex_;
  OperationMark mark_;
  std::uint64_t open_ = 0;
  std::uint64_t noted_ = 0;
  std::array<std::uint64_t, 64> hashes_{};  // of the last operations, by their numbers
};

/// A rank's answer.
struct Whereabouts {
  OperationMark mark;
  /// Hashes of its last operations, by their numbers.
  std::array<std::uint64_t, 64> hashes{};
};
/// An answer that is none has number 0.
Whereabouts whereaboutsOf(const std::string& answer);

/// The log of this process.
OperationLog& operationLog();

/// "rank 0 is at operation 7, host read of array "u"; rank 1 is at operation 7, launch of 'heat';
/// ..."
std::string describeDivergence(const OperationMark& own, const std::string& ownName,
                               const OperationMark& other, const std::string& otherName);

}  // namespace hpl::ranks
