// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

/// NPY files made by hand, from the description of the format: an oracle that shares nothing with
/// the library.
namespace io_tests {

/// A file with this header text (not padded, as no reader may rely on that) and these data.
inline std::string npyWithHeader(const std::string& header, const std::string& data,
                                 int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  const std::size_t length = header.size() + 1;
  for (std::size_t i = 0; i < (version == 1 ? 2u : 4u); ++i)
    file += static_cast<char>(length >> 8 * i & 0xff);
  return file + header + "\n" + data;
}

inline std::string npyBytes(const std::string& descr, bool fortran, const std::string& shape,
                            const std::string& data, int version = 1) {
  return npyWithHeader("{'descr': " + descr + ", 'fortran_order': " + (fortran ? "True" : "False") +
                           ", 'shape': " + shape + ", }",
                       data, version);
}

/// The bytes of numbers, in this machine's byte order or the other one.
template <class T>
std::string bytesOf(const std::vector<T>& values, bool swapped = false) {
  std::string bytes;
  for (const T& value : values) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof raw);
    if (swapped) std::reverse(raw, raw + sizeof raw);
    bytes.append(raw, sizeof raw);
  }
  return bytes;
}

}  // namespace io_tests
