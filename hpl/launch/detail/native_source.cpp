// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include "hpl/error.h"
#include "hpl/launch/detail/plan.h"

namespace hpl::launch {
namespace {

bool looksLikeSource(const std::string& text) {
  return text.find_first_of("{(\n") != std::string::npos;
}

bool namesKernel(const std::string& source, const std::string& name) {
  for (std::size_t at = source.find(name); at != std::string::npos;
       at = source.find(name, at + 1)) {
    const auto isWord = [&](std::size_t i) {
      return i < source.size() &&
             (std::isalnum(static_cast<unsigned char>(source[i])) || source[i] == '_');
    };
    if ((at == 0 || !isWord(at - 1)) && !isWord(at + name.size())) return true;
  }
  return false;
}

}  // namespace

std::string loadNativeSource(const std::string& name, const std::string& sourceOrFile) {
  std::string source = sourceOrFile;
  std::string origin = "the given source";
  if (!looksLikeSource(sourceOrFile)) {
    std::ifstream file(sourceOrFile, std::ios::binary);
    if (!file)
      throw KernelError("native kernel '" + name + "': cannot read file '" + sourceOrFile +
                        "'; give an existing file or the OpenCL C source itself");
    std::ostringstream text;
    text << file.rdbuf();
    source = text.str();
    origin = "file '" + sourceOrFile + "'";
  }
  if (!namesKernel(source, name))
    throw KernelError("native kernel '" + name + "': " + origin +
                      " does not contain a kernel of "
                      "that name");
  return source;
}

}  // namespace hpl::launch
