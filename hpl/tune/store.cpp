// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/store.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <xxhash.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "hpl/runtime/log.h"

namespace hpl::tune {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The format of the file's layout; files of another one are as good as none.
constexpr int kFormat = 1;

json toJson(const Point& point) {
  json object = json::object();
  for (const auto& [name, value] : point.entries()) object[name] = value;
  return object;
}

Point pointFrom(const json& object) {
  Point point;
  for (const auto& [name, value] : object.items()) point.set(name, value.get<std::int64_t>());
  return point;
}

json toJson(const Finding& finding) {
  json object{{"best", toJson(finding.best)}, {"ratio", finding.ratio},
              {"seconds", finding.seconds},   {"rounds", finding.rounds},
              {"complete", finding.complete}, {"thorough", finding.thorough},
              {"note", finding.note}};
  json lost = json::array();
  for (const Point& point : finding.lost) lost.push_back(toJson(point));
  object["lost"] = std::move(lost);
  return object;
}

Finding findingFrom(const json& object) {
  Finding finding;
  finding.best = pointFrom(object.at("best"));
  finding.ratio = object.at("ratio").get<double>();
  finding.seconds = object.at("seconds").get<double>();
  finding.rounds = object.at("rounds").get<int>();
  finding.complete = object.at("complete").get<bool>();
  finding.thorough = object.at("thorough").get<bool>();
  finding.note = object.at("note").get<std::string>();
  for (const json& point : object.at("lost")) finding.lost.push_back(pointFrom(point));
  return finding;
}

/// "Intel(R) Xeon" as a part of a file's name.
std::string fileName(const Identity& identity) {
  std::string name;
  for (const char c : identity.device.substr(0, 40)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain || (!name.empty() && name.back() != '-')) name += plain ? c : '-';
  }
  const std::string all = identity.device + '\n' + identity.driver + '\n' + identity.library;
  const std::uint64_t hash = XXH3_64bits(all.data(), all.size());
  return fmt::format("tune-{}-{:016x}.json", name, hash);
}

/// Holds the lock of a file's writers; the system releases it when a process dies.
class FileLock {
 public:
  FileLock(const runtime::PrivateFolder& folder, const std::string& name)
      : descriptor_(folder.lockFile(name + ".lock")) {
    if (!descriptor_) return;
    // The holder of the lock needs a moment. Where locks are not to be had, renaming alone still
    // never leaves half a file; at worst a finding is measured again.
    for (int attempt = 0; attempt < 200; ++attempt) {
      if (flock(descriptor_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    descriptor_ = runtime::Descriptor();
    isBusy_ = true;
  }

  /// Another process has held it for a second.
  bool isBusy() const noexcept { return isBusy_; }

 private:
  runtime::Descriptor descriptor_;
  bool isBusy_ = false;
};

/// Larger ones are none of ours; parsing them takes several times their size.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

}  // namespace

Store::Store(fs::path folder, Identity identity)
    : folder_(std::move(folder)), identity_(std::move(identity)) {
  if (!folder_.path().empty()) file_ = folder_.path() / fileName(identity_);
}

void Store::warnOnce(const std::string& message) {
  if (message == lastWarning_) return;
  lastWarning_ = message;
  runtime::log::warn(message);
}

void Store::warnDamaged(const std::string& problem) {
  warnOnce(fmt::format(
      "the tuning file {} is damaged ({}); it is ignored and will be replaced, so kernels run "
      "with the library's own choices until they are tuned again",
      file_.string(), problem));
}

std::optional<std::string> Store::readFile() {
  std::string reason;
  const runtime::KeptFile file = folder_.open(file_.filename(), reason);
  if (!file) {
    if (!reason.empty())
      warnOnce(fmt::format("the tuning file {} is ignored ({}) and will be replaced",
                           file_.string(), reason));
    return std::nullopt;
  }
  if (file.size() > kMostBytes) {
    warnDamaged(fmt::format("{} bytes", file.size()));
    return std::nullopt;
  }
  std::string text(file.size(), '\0');
  if (!file.read(text.data(), text.size())) {
    warnDamaged("reading it failed");
    return std::nullopt;
  }
  return text;
}

Store::Findings Store::read() {
  const std::optional<std::string> text = readFile();
  if (!text) return {};
  try {
    const json content = json::parse(*text);
    if (content.at("format").get<int>() != kFormat) return {};
    const Identity found{content.at("device").get<std::string>(),
                         content.at("driver").get<std::string>(),
                         content.at("library").get<std::string>()};
    if (!(found == identity_)) {
      warnOnce(fmt::format(
          "the tuning file {} was made for device {} (driver {}, library {}), not for {} (driver "
          "{}, library {}); it is ignored and will be replaced",
          file_.string(), found.device, found.driver, found.library, identity_.device,
          identity_.driver, identity_.library));
      return {};
    }
    Findings findings;
    for (const auto& [key, value] : content.at("findings").items())
      findings.emplace(key, findingFrom(value));
    return findings;
  } catch (const json::exception& problem) {
    warnDamaged(problem.what());
    return {};
  }
}

std::optional<Finding> Store::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (!loaded_ && !file_.empty()) findings_ = read();
  loaded_ = true;
  const auto found = findings_.find(key);
  if (found == findings_.end()) return std::nullopt;
  return found->second;
}

bool Store::keep(const std::string& key, const Finding& finding) {
  const std::lock_guard lock(mutex_);
  findings_[key] = finding;
  if (file_.empty()) return false;
  std::string problem;
  try {
    if (merge(key, finding, problem)) return true;
  } catch (const std::exception& failure) {
    problem = failure.what();
  }
  warnOnce(fmt::format(
      "tuning results cannot be kept in {} ({}); set HPL_CACHE_DIR to a writable folder, or "
      "HPL_TUNE=off",
      file_.string(), problem));
  return false;
}

bool Store::merge(const std::string& key, const Finding& finding, std::string& problem) {
  const std::string name = file_.filename();
  const FileLock lock(folder_, name);
  if (lock.isBusy()) {
    problem = "another process has been writing it for a second";
    return false;
  }
  // Findings of others since then; those of this process are newer.
  Findings all = read();
  for (const auto& [name, value] : findings_) all.try_emplace(name, value);
  all[key] = finding;
  findings_ = all;
  loaded_ = true;
  json content{{"format", kFormat},
               {"device", identity_.device},
               {"driver", identity_.driver},
               {"library", identity_.library},
               {"findings", json::object()}};
  for (const auto& [name, value] : all) content["findings"][name] = toJson(value);
  const std::string text = content.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
  return folder_.replace(name, {text}, problem);
}

}  // namespace hpl::tune
