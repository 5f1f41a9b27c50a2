// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/detail/device_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "hpl/error.h"

namespace hpl::runtime {
namespace {

std::string_view withoutSpaces(std::string_view text) {
  const auto isSpace = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
  return text;
}

[[noreturn]] void fail(std::string_view list, std::string_view entry, std::string_view reason) {
  throw SettingsError(fmt::format(
      "HPL_DEVICES={}: the entry \"{}\" {}. Accepted is a list of entries what[:n][/k][*k] "
      "separated by commas, where what is gpu, cpu, accelerator, any or part of a platform's name; "
      ":n takes the n-th, /k splits into k sub-devices, *k opens it k times. Examples: gpu, cpu/2, "
      "pocl:0*4",
      list, entry, reason));
}

int number(std::string_view list, std::string_view entry, std::string_view digits, char mark,
           int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < least) {
    fail(list, entry,
         fmt::format("needs a whole number of at least {} after '{}', not \"{}\"", least, mark,
                     digits));
  }
  return value;
}

DeviceSelector parseEntry(std::string_view list, std::string_view entry) {
  DeviceSelector selector;
  selector.text = entry;
  static constexpr std::string_view marks = ":/*";
  std::size_t at = std::min(entry.find_first_of(marks), entry.size());
  for (char c : withoutSpaces(entry.substr(0, at))) {
    selector.what += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (selector.what.empty()) fail(list, entry, "does not say which device");
  std::size_t last = 0;  // the marks come in this order, each once
  while (at < entry.size()) {
    const std::size_t kind = marks.find(entry[at]) + 1;
    if (kind <= last) fail(list, entry, "has its marks in the wrong order or twice");
    last = kind;
    const std::size_t end = std::min(entry.find_first_of(marks, at + 1), entry.size());
    const std::string_view digits = withoutSpaces(entry.substr(at + 1, end - at - 1));
    int& target = kind == 1 ? selector.index : kind == 2 ? selector.parts : selector.copies;
    target = number(list, entry, digits, entry[at], kind == 1 ? 0 : 1);
    at = end;
  }
  return selector;
}

}  // namespace

std::vector<DeviceSelector> parseDeviceList(std::string_view list) {
  std::vector<DeviceSelector> selectors;
  if (withoutSpaces(list).empty()) return selectors;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    selectors.push_back(parseEntry(list, withoutSpaces(list.substr(begin, end - begin))));
    begin = end + 1;
  }
  return selectors;
}

}  // namespace hpl::runtime
