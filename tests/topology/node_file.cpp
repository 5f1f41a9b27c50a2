// SPDX-License-Identifier: Apache-2.0
#include "node_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace topology_tests {

namespace {

class Writer {
 public:
  explicit Writer(const NodeFile& node) : node_(node) {
    const std::string cpus = setOf(0, node.sockets), nodes = nodeSetOf(0, node.sockets);
    line("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    line("<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">");
    line("<topology version=\"2.0\">");
    line(fmt::format(
        "<object type=\"Machine\" os_index=\"0\" cpuset=\"{0}\" complete_cpuset=\"{0}\" "
        "allowed_cpuset=\"{0}\" nodeset=\"{1}\" complete_nodeset=\"{1}\" "
        "allowed_nodeset=\"{1}\" gp_index=\"{2}\">",
        cpus, nodes, next()));
    for (int socket = 0; socket < node.sockets; ++socket) addSocket(socket);
    line("</object>");
    if (node.hasBandwidths) addBandwidths();
    line("</topology>");
  }

  std::string text() const { return text_; }

 private:
  static std::string setOf(int first, int count) {
    return fmt::format("{:#010x}", ((1U << count) - 1U) << first);
  }
  static std::string nodeSetOf(int first, int count) { return setOf(first, count); }
  int next() { return ++number_; }
  void line(const std::string& text) { text_ += text + "\n"; }

  void addSocket(int socket) {
    const std::string sets = fmt::format(
        "cpuset=\"{0}\" complete_cpuset=\"{0}\" nodeset=\"{0}\" complete_nodeset=\"{0}\"",
        setOf(socket, 1));
    line(fmt::format("<object type=\"Package\" os_index=\"{}\" {} gp_index=\"{}\">", socket, sets,
                     next()));
    line(
        fmt::format("<object type=\"NUMANode\" os_index=\"{}\" {} gp_index=\"{}\" "
                    "local_memory=\"1073741824\"/>",
                    socket, sets, next()));
    line(fmt::format("<object type=\"Core\" os_index=\"{}\" {} gp_index=\"{}\">", socket, sets,
                     next()));
    line(fmt::format("<object type=\"PU\" os_index=\"{}\" {} gp_index=\"{}\"/></object>", socket,
                     sets, next()));
    line(
        fmt::format("<object type=\"Bridge\" gp_index=\"{}\" bridge_type=\"0-1\" depth=\"0\" "
                    "bridge_pci=\"{:04x}:[00-ff]\">",
                    next(), socket));
    for (int gpu = 0; gpu < node_.gpusOfSocket; ++gpu) {
      line(
          fmt::format("<object type=\"PCIDev\" gp_index=\"{}\" pci_busid=\"{:04x}:{:02x}:00.0\" "
                      "pci_type=\"0302 [10de:1db1] [10de:1212] a1\" pci_link_speed=\"15.75\">",
                      next(), socket, gpu + 1));
      devices_.push_back({next(), socket});
      line(
          fmt::format("<object type=\"OSDev\" gp_index=\"{}\" name=\"opencl0d{}\" "
                      "subtype=\"OpenCL\" osdev_type=\"5\"/></object>",
                      devices_.back().number, devices_.size() - 1));
    }
    if (node_.hasDisplay && socket == 0) {
      line(
          fmt::format("<object type=\"PCIDev\" gp_index=\"{}\" pci_busid=\"0000:f0:00.0\" "
                      "pci_type=\"0300 [1a03:2000] [1a03:2000] 41\" pci_link_speed=\"0.5\">",
                      next()));
      line(
          fmt::format("<object type=\"OSDev\" gp_index=\"{}\" name=\"card0\" osdev_type=\"1\"/>"
                      "</object>",
                      next()));
    }
    line("</object></object>");
  }

  void addBandwidths() {
    std::string numbers;
    for (const Device& device : devices_) numbers += fmt::format("{} ", device.number);
    line(
        fmt::format("<distances2 type=\"OSDev\" nbobjs=\"{}\" kind=\"9\" name=\"NVLinkBandwidth\" "
                    "indexing=\"gp\">",
                    devices_.size()));
    line(fmt::format("<indexes length=\"{}\">{}</indexes>", numbers.size(), numbers));
    for (const Device& from : devices_) {
      std::string values;
      for (const Device& to : devices_)
        values += fmt::format("{} ", from.number == to.number   ? 900000
                                     : from.socket == to.socket ? node_.within
                                                                : node_.across);
      line(fmt::format("<u64values length=\"{}\">{}</u64values>", values.size(), values));
    }
    line("</distances2>");
  }

  struct Device {
    int number;
    int socket;
  };
  NodeFile node_;
  std::string text_;
  int number_ = 0;
  std::vector<Device> devices_;
};

}  // namespace

std::string xmlOf(const NodeFile& node) { return Writer(node).text(); }

std::string changed(std::string xml, const std::string& text, const std::string& into) {
  const std::size_t at = xml.find(text);
  if (at == std::string::npos) throw std::runtime_error("not there: " + text);
  return xml.replace(at, text.size(), into);
}

int lineWith(const std::string& xml, const std::string& text) {
  const std::size_t at = xml.find(text);
  if (at == std::string::npos) throw std::runtime_error("not there: " + text);
  return 1 + static_cast<int>(
                 std::count(xml.begin(), xml.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace topology_tests
