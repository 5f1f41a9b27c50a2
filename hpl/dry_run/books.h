// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hpl/dry_run/machine_file.h"
#include "hpl/dry_run/report.h"

namespace hpl::dry_run {

/// The hosts, where a device's number is asked for.
inline constexpr int kHosts = -1;

/// Cells that move from one memory to another.
struct Message {
  int from = kHosts;
  int to = kHosts;
  int operand = 0;  ///< of the operation: the array that has the cells at `from`
  std::uint64_t bytes = 0;
};

/// A kernel on one device, or a piece of it.
struct Work {
  int device = 0;
  double bytes = 0;       ///< of the cells that it may read, and of those that it may write
  double operations = 0;  ///< arithmetic
  /// The device runs it first, since other devices wait for its cells.
  bool isBorder = false;
};

/// One operation of a program, as planned: messages, then work.
struct Operation {
  enum class Kind { Launch, Exchange, Assignment, Fill, HostRead, HostWrite, ArrayEnd };

  Kind kind = Kind::Launch;
  std::string name;  ///< kernel or array
  std::vector<Message> messages;
  std::vector<Work> works;
  std::vector<int> written;  ///< operands that the work writes

  friend bool operator==(const Operation& a, const Operation& b);
};

namespace detail {
class Clocks;
struct Row;
}  // namespace detail

/// The books of a dry run: what happened, how often, and how long a model of the machine takes for
/// it. Arrays are known by numbers that are never used twice. Not safe from several threads.
class Books {
 public:
  explicit Books(MachineFile machine);
  ~Books();
  Books(const Books&) = delete;
  Books& operator=(const Books&) = delete;

  const MachineFile& machine() const noexcept { return machine_; }

  /// An operation takes place on these arrays, one per operand. Returns a number to repeat it by;
  /// -1: there are too many operations to keep all of them, so it is to be noted again.
  int note(Operation operation, std::span<const std::uint64_t> arrays);
  /// It takes place once more, perhaps on other arrays.
  void repeat(int operation, std::span<const std::uint64_t> arrays);
  /// The host reads cells that a device computed: in a run on devices the program would see other
  /// values.
  void noteHostRead(const std::string& array, const std::string& computedBy, std::uint64_t bytes);
  /// A decision of the library that no device was asked for, for the report.
  void remark(const std::string& sentence);
  /// An array occupies that many bytes more on a device, or less.
  void occupy(int device, std::int64_t bytes);
  void endArray(std::uint64_t array);

  /// The report so far.
  Report report() const;

 private:
  void happen(int number, std::span<const std::uint64_t> arrays);
  void takePlace(int number, const detail::Row& row, std::span<const std::uint64_t> arrays);
  void noteAmongOthers(const detail::Row& row, std::span<const std::uint64_t> arrays);
  void describeLoop(Report& report) const;

  MachineFile machine_;
  std::unique_ptr<detail::Clocks> clocks_;
  std::vector<std::unique_ptr<detail::Row>> rows_;
  std::unordered_multimap<std::size_t, int> rowsByHash_;
  std::map<std::pair<int, std::string>, int> others_;  // sums by kind and name
  std::size_t kept_ = 0;                               // messages and works in rows_
  Report totals_;
  std::vector<std::int64_t> occupied_;  // by device
  std::vector<std::int64_t> peak_;
  std::map<std::pair<std::string, std::string>, HostReads> hostReads_;
  std::vector<std::string> remarks_;
  // The last operations, by row, and the modelled time after them.
  std::vector<int> history_;
  std::vector<double> times_;
};

}  // namespace hpl::dry_run
