// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

/// Tests of what happens to a whole process: the test program runs itself again, with other
/// environment variables, and only one test case, marked `doctest::skip()`, which plays the child.
namespace subprocess {

struct Result {
  int exitCode = -1;
  /// stdout and stderr together.
  std::string output;
};

inline std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The command that runs the test case `child` with `environment`, e.g. "HPL_LOG=off HPL_FP=fast".
inline std::string command(std::string child, const std::string& environment) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  // A comma would begin another name: any character is one.
  std::replace(child.begin(), child.end(), ',', '?');
  return "env " + environment + " " + quoted(self) +
         " --no-skip --no-intro --minimal --test-case=" + subprocess::quoted(child) + " 2>&1";
}

/// Runs a shell command to its end.
inline Result runShell(const std::string& line) {
  FILE* pipe = popen(line.c_str(), "r");
  if (!pipe) throw std::runtime_error("popen failed: " + line);
  Result result;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    result.output.append(buffer, n);
  }
  const int status = pclose(pipe);
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

/// Runs the test case `child` in a process of its own.
inline Result run(const std::string& child, const std::string& environment = "") {
  return runShell(command(child, environment));
}

/// A folder that is removed at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "hpl_test_XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed: " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// How often `part` occurs in `text`.
inline int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++count;
  }
  return count;
}

}  // namespace subprocess
