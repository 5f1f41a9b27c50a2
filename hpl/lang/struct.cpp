// SPDX-License-Identifier: Apache-2.0
#include "hpl/lang/struct.h"

#include <cctype>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "hpl/error.h"
#include "hpl/ir/half.h"

namespace hpl::detail {
namespace {

/// Struct types by name; leaked, because arrays of them may die at any time.
struct StructRegistry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<ir::StructType>> types;
  static StructRegistry& get() {
    static auto* registry = new StructRegistry;
    return *registry;
  }
};

bool sameLayout(const ir::StructType& a, const ir::StructType& b) {
  if (a.size != b.size || a.alignment != b.alignment || a.fields.size() != b.fields.size())
    return false;
  for (std::size_t i = 0; i < a.fields.size(); ++i)
    if (a.fields[i].name != b.fields[i].name || !(a.fields[i].type == b.fields[i].type) ||
        a.fields[i].offset != b.fields[i].offset)
      return false;
  return true;
}

const ir::StructType& keep(ir::StructType type) {
  StructRegistry& registry = StructRegistry::get();
  const std::lock_guard lock(registry.mutex);
  auto& known = registry.types[type.name];
  if (!known) {
    known = std::make_unique<ir::StructType>(std::move(type));
  } else if (!sameLayout(*known, type)) {
    throw KernelError("two different structs are registered under the name '" + type.name +
                      "'; rename one of them");
  }
  return *known;
}

/// Splits the body of a struct into words and single characters.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { next(); }
  const std::string& word() const { return word_; }
  void next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    word_.clear();
    while (at_ < text_.size() && isWord(text_[at_])) word_ += text_[at_++];
    if (word_.empty() && at_ < text_.size()) word_ = text_[at_++];
  }

 private:
  static bool isWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
  }
  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
};

bool scalarNamed(const std::string& name, ir::Scalar& scalar) {
  static const std::map<std::string, ir::Scalar> kNames{{"bool", ir::Scalar::Bool},
                                                        {"char", ir::Scalar::Char},
                                                        {"signed char", ir::Scalar::Char},
                                                        {"uchar", ir::Scalar::Uchar},
                                                        {"unsigned char", ir::Scalar::Uchar},
                                                        {"short", ir::Scalar::Short},
                                                        {"ushort", ir::Scalar::Ushort},
                                                        {"unsigned short", ir::Scalar::Ushort},
                                                        {"int", ir::Scalar::Int},
                                                        {"uint", ir::Scalar::Uint},
                                                        {"unsigned", ir::Scalar::Uint},
                                                        {"unsigned int", ir::Scalar::Uint},
                                                        {"long", ir::Scalar::Long},
                                                        {"ulong", ir::Scalar::Ulong},
                                                        {"unsigned long", ir::Scalar::Ulong},
                                                        {"size_t", ir::Scalar::Ulong},
                                                        {"half", ir::Scalar::Half},
                                                        {"float", ir::Scalar::Float},
                                                        {"double", ir::Scalar::Double}};
  const auto found = kNames.find(name);
  if (found == kNames.end()) return false;
  scalar = found->second;
  return true;
}

ir::Type typeNamed(const char* structName, std::string name) {
  if (name.starts_with("hpl::")) name = name.substr(5);
  if (name.starts_with("std::")) name = name.substr(5);
  ir::Type type;
  if (scalarNamed(name, type.scalar)) return type;
  for (const int lanes : {16, 8, 4, 3, 2}) {
    const std::string suffix = std::to_string(lanes);
    if (!name.ends_with(suffix)) continue;
    type.lanes = static_cast<std::uint8_t>(lanes);
    if (scalarNamed(name.substr(0, name.size() - suffix.size()), type.scalar)) return type;
  }
  throw KernelError(std::string("HPL_DEFINE_STRUCT(") + structName + "): field type '" + name +
                    "' is not known; use scalars and vectors of OpenCL, or HPL_STRUCT");
}

std::string fieldTypeName(Words& words) {
  std::string type = words.word();
  words.next();
  if (type == "unsigned" || type == "signed") {
    const std::string& base = words.word();
    if (base == "char" || base == "short" || base == "int" || base == "long") {
      type += " " + base;
      words.next();
    }
  }
  return type;
}

void appendField(ir::StructType& type, const std::string& name, const ir::Type& fieldType,
                 std::size_t& end) {
  const std::size_t alignment = ir::alignmentOf(fieldType);
  const std::size_t offset = (end + alignment - 1) / alignment * alignment;
  type.fields.push_back({name, fieldType, offset});
  end = offset + ir::sizeOf(fieldType);
}

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

Node scalarFromBytes(const ir::Type& type, const std::byte* p) {
  switch (type.scalar) {
    case ir::Scalar::Bool:
      return constantNode(type, load<bool>(p), 0);
    case ir::Scalar::Char:
      return constantNode(type, static_cast<std::uint64_t>(load<std::int8_t>(p)), 0);
    case ir::Scalar::Uchar:
      return constantNode(type, load<std::uint8_t>(p), 0);
    case ir::Scalar::Short:
      return constantNode(type, static_cast<std::uint64_t>(load<std::int16_t>(p)), 0);
    case ir::Scalar::Ushort:
      return constantNode(type, load<std::uint16_t>(p), 0);
    case ir::Scalar::Int:
      return constantNode(type, static_cast<std::uint64_t>(load<std::int32_t>(p)), 0);
    case ir::Scalar::Uint:
      return constantNode(type, load<std::uint32_t>(p), 0);
    case ir::Scalar::Half:
      return constantNode(type, 0, ir::halfToFloat(load<std::uint16_t>(p)));
    case ir::Scalar::Float:
      return constantNode(type, 0, load<float>(p));
    case ir::Scalar::Double:
      return constantNode(type, 0, load<double>(p));
    default:
      return constantNode(type, load<std::uint64_t>(p), 0);
  }
}

Node constantFromBytes(const ir::Type& type, const std::byte* p) {
  if (type.isStruct()) return structConstant(*type.structure, p);
  if (type.isScalar()) return scalarFromBytes(type, p);
  std::vector<Node> parts;
  const int count = type.complex ? 2 : type.lanes;
  parts.reserve(static_cast<std::size_t>(count));
  const std::size_t step = ir::sizeOf(type.scalar);
  for (int i = 0; i < count; ++i)
    parts.push_back(scalarFromBytes(type.element(), p + static_cast<std::size_t>(i) * step));
  return constructNode(type, parts.data(), parts.size());
}

}  // namespace

const ir::StructType& registerStruct(const char* name, std::size_t size, std::size_t alignment,
                                     std::initializer_list<ir::Field> fields) {
  return keep(ir::StructType{name, fields, size, alignment});
}

const ir::StructType& registerStructText(const char* name, std::size_t size, std::size_t alignment,
                                         const char* body) {
  ir::StructType type{name, {}, size, alignment};
  std::size_t end = 0;
  Words words(body);
  words.next();  // the opening brace
  while (!words.word().empty() && words.word() != "}") {
    const ir::Type fieldType = typeNamed(name, fieldTypeName(words));
    while (words.word() != ";") {
      if (words.word() == ",") words.next();
      appendField(type, words.word(), fieldType, end);
      words.next();
      if (words.word() != "," && words.word() != ";")
        throw KernelError(std::string("HPL_DEFINE_STRUCT(") + name + "): cannot read '" +
                          words.word() + "' after field '" + type.fields.back().name +
                          "'; fields are scalars or vectors without initialisers");
    }
    words.next();
  }
  if ((end + alignment - 1) / alignment * alignment != size)
    throw KernelError(std::string("HPL_DEFINE_STRUCT(") + name +
                      "): the layout read from its text is not the compiler's; use HPL_STRUCT");
  return keep(std::move(type));
}

std::size_t fieldAt(const ir::StructType& type, std::size_t offset) {
  for (std::size_t i = 0; i < type.fields.size(); ++i)
    if (type.fields[i].offset == offset) return i;
  throw KernelError("struct '" + type.name + "' has no registered field at this position");
}

Node structNode(const ir::StructType& type, std::initializer_list<Node> fields) {
  if (fields.size() != type.fields.size())
    throw KernelError("make<" + type.name + "> needs " + std::to_string(type.fields.size()) +
                      " values, one per field, and got " + std::to_string(fields.size()));
  std::vector<Node> converted;
  for (const Node field : fields)
    converted.push_back(convertNode(field, type.fields[converted.size()].type));
  return constructNode(ir::Type{ir::Scalar::Void, 1, false, &type}, converted.data(),
                       converted.size());
}

Node structConstant(const ir::StructType& type, const void* value) {
  const auto* bytes = static_cast<const std::byte*>(value);
  std::vector<Node> fields;
  fields.reserve(type.fields.size());
  for (const ir::Field& field : type.fields)
    fields.push_back(constantFromBytes(field.type, bytes + field.offset));
  return constructNode(ir::Type{ir::Scalar::Void, 1, false, &type}, fields.data(), fields.size());
}

}  // namespace hpl::detail
