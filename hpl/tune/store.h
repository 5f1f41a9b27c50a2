// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hpl/runtime/private_folder.h"
#include "hpl/tune/space.h"

/// The findings of tuning, kept in a JSON file for later processes.
namespace hpl::tune {

/// The device, driver and library version that a file holds for.
struct Identity {
  std::string device;
  std::string driver;
  std::string library;

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// The result for one key.
struct Finding {
  /// The fastest point; the default where it has no entries.
  Point best;
  /// Its time by that of the default, over `rounds` rounds.
  double ratio = 1;
  double seconds = 0;
  int rounds = 0;
  /// True if all points were tried. Otherwise those in `lost` were, and a later process goes on
  /// with the rest.
  bool complete = false;
  /// True if the whole space was searched, as far as the time sufficed, not only the points nearest
  /// to the default.
  bool thorough = false;
  std::vector<Point> lost;
  /// For people who read the file.
  std::string note;

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// The findings for one device, by keys of any text: what was tuned, for which sizes. One file per
/// device, driver and library version.
///
/// Safe to use from several threads, and to share between processes. Processes see each other's
/// findings when they begin. keep() merges a finding into the file under a lock and replaces the
/// file by a rename, so a reader sees a whole file and no finding is lost. Folders and files that
/// others may have placed are ignored (PrivateFolder).
///
/// No member throws. A file that cannot be used is reported once, ignored, and replaced by the next
/// finding. Without a folder that can be written, findings last as long as the process.
class Store {
 public:
  /// An empty folder: nothing is read or kept.
  Store(std::filesystem::path folder, Identity identity);

  std::optional<Finding> find(const std::string& key);
  /// Remembers the finding. False if it could not be written to the file.
  bool keep(const std::string& key, const Finding& finding);

  /// The file; empty when there is none.
  const std::filesystem::path& file() const noexcept { return file_; }

 private:
  using Findings = std::map<std::string, Finding>;

  Findings read();
  std::optional<std::string> readFile();
  void warnDamaged(const std::string& problem);
  bool merge(const std::string& key, const Finding& finding, std::string& problem);
  void warnOnce(const std::string& message);

  std::mutex mutex_;
  runtime::PrivateFolder folder_;
  std::filesystem::path file_;
  Identity identity_;
  bool loaded_ = false;
  Findings findings_;
  std::string lastWarning_;
};

}  // namespace hpl::tune
