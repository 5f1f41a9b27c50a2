// SPDX-License-Identifier: Apache-2.0
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "hpl/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "hpl/io/detail/cell_stream.h"

namespace hpl::io {
namespace {

using detail::CellLayout;
using detail::ElementCodec;
using detail::FileType;
using detail::fileTypeOf;
using detail::Literal;
using detail::shapeText;
using detail::SourceFile;

constexpr std::array<char, 6> kMagic = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
/// NumPy writes headers of a few hundred bytes; structs with many fields reach some thousands.
constexpr std::int64_t kMostHeader = 1 << 20;

struct Header {
  FileType type;  ///< its shape is moved to the end of `shape`
  std::vector<std::int64_t> shape;
  bool fortranOrder = false;
};

std::int64_t readLittleEndian(SourceFile& file, std::size_t bytes) {
  std::array<unsigned char, 4> raw{};
  file.read(raw.data(), bytes);
  std::int64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | raw[i];
  return value;
}

std::string readHeaderText(SourceFile& file) {
  std::array<char, 6> magic{};
  if (file.size() < 10) {
    file.fail(
        fmt::format("it has {} bytes and is no NPY file, whose header alone has more", file.size()),
        0);
  }
  file.read(magic.data(), magic.size());
  if (magic != kMagic) {
    file.fail(
        "it is no NPY file, which would begin with \\x93NUMPY; files of numpy.savez (NPZ) have to "
        "be unpacked first",
        0);
  }
  const std::int64_t major = readLittleEndian(file, 1);
  const std::int64_t minor = readLittleEndian(file, 1);
  if (major < 1 || major > 3 || minor != 0) {
    file.fail(fmt::format("it is of version {}.{} of the format; versions 1.0, 2.0 and 3.0 are "
                          "read: save it again with numpy.save",
                          major, minor),
              6);
  }
  const std::int64_t length = readLittleEndian(file, major == 1 ? 2 : 4);
  if (length > kMostHeader || length > file.size() - file.position()) {
    file.fail(fmt::format("its header would have {} bytes, and {} bytes follow; at most {} are "
                          "read: the file is cut short or damaged",
                          length, file.size() - file.position(), kMostHeader),
              8);
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read(text.data(), text.size());
  return text;
}

std::vector<std::int64_t> parseShape(const Literal* shape, const SourceFile& file) {
  if (shape == nullptr || shape->kind != Literal::Kind::Tuple || shape->items.size() > 64)
    file.fail("its header has no 'shape' such as (48, 64)");
  std::vector<std::int64_t> extents;
  for (const Literal& item : shape->items) {
    if (item.kind != Literal::Kind::Integer || item.integer < 0)
      file.fail("its header's 'shape' has an extent that is no number from 0 on");
    extents.push_back(item.integer);
  }
  return extents;
}

Header parseHeader(SourceFile& file) {
  const std::string text = readHeaderText(file);
  const std::int64_t begin = file.position() - static_cast<std::int64_t>(text.size());
  const Literal literal = parseLiteral(text, file, begin);
  const Literal* descr = literal.find("descr");
  const Literal* order = literal.find("fortran_order");
  if (literal.kind != Literal::Kind::Dictionary || descr == nullptr || order == nullptr ||
      order->kind != Literal::Kind::Bool) {
    file.fail("its header is not {'descr': ..., 'fortran_order': ..., 'shape': ...}", begin);
  }
  Header header{parseDescr(*descr, file), parseShape(literal.find("shape"), file),
                order->integer != 0};
  header.shape.insert(header.shape.end(), header.type.shape.begin(), header.type.shape.end());
  header.type.shape.clear();
  const std::int64_t bytes = detail::bytesOf(header.shape, header.type.size);
  const std::int64_t rest = file.size() - file.position();
  if (bytes != rest) {
    file.fail(fmt::format(
                  "its header says shape {} of type {}, which is {} bytes from byte {} on, and {} "
                  "follow: {}",
                  shapeText(header.shape), descrText(header.type),
                  bytes < 0 ? std::string("more than 2^63") : std::to_string(bytes),
                  file.position(), rest,
                  bytes < 0 || bytes > rest ? "it is cut short or damaged"
                                            : "it is damaged, or holds more than one array"),
              file.position());
  }
  return header;
}

/// The type that an array has to ask for; its shape has the lanes of a vector.
FileType elementFor(const ir::Type& type, const Header& header) {
  FileType element = header.type;
  if (type.isVector() && !header.shape.empty()) element.shape = {header.shape.back()};
  return element;
}

std::size_t rankFor(const ir::Type& type, int rank) {
  return static_cast<std::size_t>(rank) + (type.isVector() ? 1 : 0);
}

std::string headerText(const CellLayout& layout) {
  FileType type = fileTypeOf(layout.type);
  std::vector<std::int64_t> shape = layout.shape();
  shape.insert(shape.end(), type.shape.begin(), type.shape.end());
  type.shape.clear();
  return fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': {}, }}", descrText(type),
                     shapeText(shape));
}

/// Magic, version, length and header, padded so that the data begin at a multiple of 64.
std::string preamble(const CellLayout& layout) {
  std::string text = headerText(layout);
  const bool isAscii = std::all_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<signed char>(c) >= 0; });
  const std::size_t longest = 65535 - 64;
  const char version = !isAscii ? '\x03' : text.size() > longest ? '\x02' : '\x01';
  const std::size_t lengthBytes = version == '\x01' ? 2 : 4;
  const std::size_t before = kMagic.size() + 2 + lengthBytes;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  std::string all(kMagic.begin(), kMagic.end());
  all += version;
  all += '\0';
  for (std::size_t i = 0; i < lengthBytes; ++i) all += static_cast<char>(text.size() >> 8 * i);
  return all + text;
}

}  // namespace

struct NpyFile::State {
  SourceFile file;
  Header header;
  std::string descr;
  std::int64_t dataAt = 0;

  explicit State(const std::string& name) : file(name, "the array"), header(parseHeader(file)) {
    descr = descrText(header.type);
    dataAt = file.position();
  }
};

NpyFile::NpyFile(const std::string& file) : state_(std::make_unique<State>(file)) {}
NpyFile::~NpyFile() = default;
NpyFile::NpyFile(NpyFile&&) noexcept = default;
NpyFile& NpyFile::operator=(NpyFile&&) noexcept = default;

const std::vector<std::int64_t>& NpyFile::shape() const noexcept { return state_->header.shape; }
const std::string& NpyFile::descr() const noexcept { return state_->descr; }
bool NpyFile::fortranOrder() const noexcept { return state_->header.fortranOrder; }

std::string NpyFile::problemWith(const ir::Type& type, int rank) const {
  const Header& header = state_->header;
  if (header.shape.size() == rankFor(type, rank) && codecFor(type, elementFor(type, header)))
    return {};
  FileType asked = fileTypeOf(type);
  const std::string lanes =
      type.isVector() ? fmt::format(" and a last extent of {}", type.lanes) : std::string();
  asked.shape.clear();
  return fmt::format(
      "it holds shape {} of type {}, and {} needs {} dimensions of type {}{}: read it as another "
      "Array, or convert it with NumPy's reshape or astype",
      shapeText(header.shape), state_->descr, detail::describeArray(type, rank),
      rankFor(type, rank), descrText(asked), lanes);
}

void NpyFile::require(const ir::Type& type, int rank) const {
  const std::string problem = problemWith(type, rank);
  if (!problem.empty()) state_->file.fail(problem);
  const std::vector<std::int64_t>& shape = state_->header.shape;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    state_->file.fail(fmt::format("it has shape {}, no element, and an Array has at least one",
                                  shapeText(shape)));
  }
}

void NpyFile::requireShape(const CellLayout& layout) const {
  require(layout.type, layout.rank);
  std::vector<std::int64_t> wanted = layout.shape();
  if (layout.type.isVector()) wanted.push_back(layout.type.lanes);
  if (wanted == state_->header.shape) return;
  state_->file.fail(fmt::format(
      "it has shape {}, and {} has {}: read it into an array or a view of its shape, or let "
      "readNpy make one",
      shapeText(state_->header.shape),
      detail::describeArray(layout.type, layout.rank, layout.label), shapeText(wanted)));
}

void NpyFile::readInto(const CellLayout& layout, void* first) {
  const Header& header = state_->header;
  state_->file.seek(state_->dataAt);
  // In Fortran order the file's first index is the fastest: that of the last dimension, seen from
  // the transposed array.
  const CellLayout cells = header.fortranOrder ? transposed(asScalars(layout)) : layout;
  const ElementCodec codec = *codecFor(cells.type, elementFor(cells.type, header));
  readCells(state_->file, cells, first, codec);
}

namespace detail {

void writeNpy(const std::string& file, const Cells& cells) {
  NewFile out(file, "the array");
  const std::string begin = preamble(cells.layout);
  out.write(begin.data(), begin.size());
  writeCells(out, cells, *codecFor(cells.layout.type, fileTypeOf(cells.layout.type)));
  out.finish();
}

}  // namespace detail
}  // namespace hpl::io
