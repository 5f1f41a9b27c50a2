// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "hpl/error.h"
#include "hpl/launch/detail/device_plan.h"
#include "hpl/launch/native.h"
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

/// The results of code that the library cannot analyse must not depend on how work-items are laid
/// out. Empty: they do not.
std::string dependenceOf(const std::string& name, const std::string& source) {
  constexpr const char* kForbidden[] = {"get_global_id",     "get_local_id",   "get_group_id",
                                        "get_global_size",   "get_local_size", "get_num_groups",
                                        "get_global_offset", "get_work_dim",   "barrier",
                                        "work_group_barrier"};
  for (const char* word : kForbidden)
    if (hasWord(source, word))
      return "native function '" + name + "' mentions " + word +
             ", but the library decides how work-items are laid out; pass what the function "
             "needs, such as idx, as arguments, and wait in the kernel";
  return {};
}

}  // namespace

std::string loadNativeSource(const std::string& name, const std::string& sourceOrFile) {
  return loadSource("kernel", name, sourceOrFile);
}

namespace {

/// Turns the options -D NAME, -DNAME=VALUE, ... into #define lines. Returns the first other option,
/// empty when there is none.
std::string takeMacros(const std::string& options, std::string& macros) {
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    if (!word.starts_with("-D")) return word;
    std::string macro = word.substr(2);
    if (macro.empty() && !(words >> macro)) return word;
    const std::size_t equals = macro.find('=');
    macros += "#define " + macro.substr(0, equals) + ' ' +
              (equals == std::string::npos ? "1" : macro.substr(equals + 1)) + '\n';
  }
  return {};
}

/// All native functions; never destroyed, as captured kernels keep the addresses and static objects
/// may call.
struct NativeCodes {
  std::mutex mutex;
  /// By name and source.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<const ir::NativeCode>> known;
  std::unordered_set<const void*> addresses;

  static NativeCodes& get() {
    static auto& codes = *new NativeCodes;
    return codes;
  }
};

const ir::NativeCode& internedCode(const std::string& name, const std::string& source) {
  NativeCodes& codes = NativeCodes::get();
  const std::lock_guard lock(codes.mutex);
  auto& code = codes.known[{name, source}];
  if (!code) {
    code = std::make_unique<const ir::NativeCode>(ir::NativeCode{name, source});
    codes.addresses.insert(code.get());
  }
  return *code;
}

}  // namespace

const ir::NativeCode& nativeCode(const std::string& name, const std::string& sourceOrFile) {
  const std::string source = loadSource("function", name, sourceOrFile);
  const std::string dependence = dependenceOf(name, source);
  if (!dependence.empty()) throw KernelError(dependence);
  return internedCode(name, source);
}

bool isNativeCode(const void* address) {
  NativeCodes& codes = NativeCodes::get();
  const std::lock_guard lock(codes.mutex);
  return codes.addresses.contains(address);
}

hpl::detail::NativeBody nativeBody(const std::string& name, const std::string& source,
                                   const std::string& buildOptions) {
  std::string refusal = dependenceOf(name, source);
  std::string macros;
  const std::string other = takeMacros(buildOptions, macros);
  if (refusal.empty() && !other.empty())
    refusal = "native function '" + name + "' has the build option " + other +
              ", which would hold for all of the kernel that calls it; only -D options go along "
              "with call(f)(arguments)";
  return {&internedCode(name, macros + source), refusal};
}

void registerNativeFunction(const void* address, const std::string& name,
                            const std::string& sourceOrFile, const std::string& options) {
  hpl::detail::refuseInKernel("nativeHandle(f, name, source)");
  hpl::detail::NativeBody body =
      nativeBody(name, loadSource("function", name, sourceOrFile), options);
  if (!body.refusal.empty()) throw KernelError(body.refusal);
  if (hpl::detail::setNativeBody(address, std::move(body))) forgetKernels();
}

}  // namespace hpl::launch
