// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "hpl/error.h"
#include "hpl/launch/detail/plan.h"
#include "hpl/launch/native_function.h"

namespace hpl::launch {
namespace {

bool looksLikeSource(const std::string& text) {
  return text.find_first_of("{(\n") != std::string::npos;
}

bool isWordAt(const std::string& source, std::size_t i) {
  return i < source.size() &&
         (std::isalnum(static_cast<unsigned char>(source[i])) || source[i] == '_');
}

bool hasWord(const std::string& source, const std::string& name) {
  for (std::size_t at = source.find(name); at != std::string::npos; at = source.find(name, at + 1))
    if ((at == 0 || !isWordAt(source, at - 1)) && !isWordAt(source, at + name.size())) return true;
  return false;
}

/// `kind`: "kernel" or "function".
std::string loadSource(const std::string& kind, const std::string& name,
                       const std::string& sourceOrFile) {
  std::string source = sourceOrFile;
  std::string origin = "the given source";
  if (!looksLikeSource(sourceOrFile)) {
    std::ifstream file(sourceOrFile, std::ios::binary);
    if (!file)
      throw KernelError("native " + kind + " '" + name + "': cannot read file '" + sourceOrFile +
                        "'; give an existing file or the OpenCL C source itself");
    std::ostringstream text;
    text << file.rdbuf();
    source = text.str();
    origin = "file '" + sourceOrFile + "'";
  }
  if (!hasWord(source, name))
    throw KernelError("native " + kind + " '" + name + "': " + origin + " does not contain a " +
                      kind + " of that name");
  return source;
}

/// What the library cannot see into must not depend on how work-items are laid out.
void checkIndependence(const std::string& name, const std::string& source) {
  constexpr const char* kForbidden[] = {"get_global_id",     "get_local_id",   "get_group_id",
                                        "get_global_size",   "get_local_size", "get_num_groups",
                                        "get_global_offset", "get_work_dim",   "barrier",
                                        "work_group_barrier"};
  for (const char* word : kForbidden)
    if (hasWord(source, word))
      throw KernelError("native function '" + name + "' mentions " + word +
                        ", but the library decides how work-items are laid out; pass what the "
                        "function needs, such as idx, as arguments, and wait in the kernel");
}

}  // namespace

std::string loadNativeSource(const std::string& name, const std::string& sourceOrFile) {
  return loadSource("kernel", name, sourceOrFile);
}

const ir::NativeCode& nativeCode(const std::string& name, const std::string& sourceOrFile) {
  std::string source = loadSource("function", name, sourceOrFile);
  checkIndependence(name, source);
  // Captured kernels keep the address; never destroyed, as static objects may call.
  static std::mutex mutex;
  static auto& known =
      *new std::map<std::pair<std::string, std::string>, std::unique_ptr<const ir::NativeCode>>;
  const std::lock_guard lock(mutex);
  auto& code = known[{name, source}];
  if (!code) code = std::make_unique<const ir::NativeCode>(ir::NativeCode{name, source});
  return *code;
}

}  // namespace hpl::launch
