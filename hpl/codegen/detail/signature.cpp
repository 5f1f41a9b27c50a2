// SPDX-License-Identifier: Apache-2.0
// Names, parameters and prologues of functions.
#include "hpl/codegen/detail/types.h"
#include "hpl/codegen/detail/writer.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {

using ir::Query;
using ir::Role;
using ir::Scalar;
using ir::Space;
using ir::Variable;

namespace {

constexpr const char* kAxes[] = {"x", "y", "z"};
// As users write them in kernels.
constexpr const char* kQueryPrefixes[] = {"id", "lid", "gid", "sz", "lsz", "ngroups", "origin"};
constexpr int kQueries = static_cast<int>(ir::kQueries);

std::string defaultQueryName(int query, int dim) {
  return std::string(kQueryPrefixes[query]) + kAxes[dim];
}

bool isArray(const Variable& variable) {
  return variable.role == Role::ArrayParam || variable.role == Role::Alias;
}

// Elements between neighbours in each dimension but the last of a declared array.
std::vector<std::string> declaredStrides(const std::vector<std::int64_t>& extents) {
  std::vector<std::string> strides(extents.empty() ? 0 : extents.size() - 1);
  std::int64_t stride = 1;
  for (std::size_t d = extents.size(); d-- > 1;) {
    stride *= extents[d];
    strides[d - 1] = std::to_string(stride);
  }
  return strides;
}

}  // namespace

int queryKey(int query, int dim) { return query * 3 + dim; }
std::string originName(int dim) { return std::string("hpl_origin_") + kAxes[dim]; }

FunctionWriter::FunctionWriter(Session& session, const ir::Function& function)
    : session_(session),
      function_(function),
      usage_(session.usage.of(&function)),
      out_(session.text.out()),
      scope_(&session.globals),
      isKernel_(&function == session.kernel.entry),
      where_(function.where) {
  // The predefined names come first: a user's variable of the same name is the one that changes.
  nameQueries();
  for (const Variable* param : function.params) nameParameter(*param);
  for (const Variable* local : usage_.locals) {
    VariableNames& own = nameVariable(*local);
    own.isPointer = !isKernel_ && local->rank == 0;
  }
  nameVariables(*function.body);
}

VariableNames& FunctionWriter::nameVariable(const Variable& variable) {
  const auto [entry, isNew] = names_.try_emplace(&variable);
  VariableNames& own = entry->second;
  if (!isNew) return own;
  own.name = scope_.claim(variable.name);
  own.strides = declaredStrides(variable.extents);
  own.id = "0";
  for (const std::int64_t extent : variable.extents) {
    own.extents.push_back(std::to_string(extent));
  }
  if (variable.role == Role::Alias && session_.options.checkBounds) {
    own.position = scope_.claim(own.name + "_at");
    own.span = scope_.claim(own.name + "_span");
    own.id = scope_.claim(own.name + "_id");
  }
  return own;
}

void FunctionWriter::nameParameter(const Variable& param) {
  VariableNames& own = nameVariable(param);
  if (param.role == Role::ScalarParam && isKernel_ && isConvertedHalf(param)) {
    own.bits = scope_.claim(own.name + "_bits");
  }
  if (param.role != Role::ArrayParam) return;
  if (const Variable* other = stridesFrom(param)) {
    own.strides = names(other).strides;
  } else {
    for (int d = 0; d + 1 < param.rank; ++d) {
      own.strides.push_back(scope_.claim(own.name + "_s" + std::to_string(d)));
    }
  }
  if (!session_.passesExtents()) return;
  for (int d = 0; d < param.rank; ++d) {
    own.extents.push_back(scope_.claim(own.name + "_n" + std::to_string(d)));
  }
  if (!session_.options.checkBounds) return;
  own.id = isKernel_ ? std::to_string(param.paramIndex + 1) : scope_.claim(own.name + "_id");
}

void FunctionWriter::nameVariables(const ir::Block& block) {
  for (const ir::Stmt* stmt : block.stmts) {
    if (const auto* declare = stmt->as<ir::Declare>()) nameVariable(*declare->variable);
    forEachBlock(*stmt, [this](const ir::Block& inner) { nameVariables(inner); });
  }
}

void FunctionWriter::nameQueries() {
  for (int query = 0; query < kQueries; ++query) {
    for (int d = 0; d < 3; ++d) {
      if ((usage_.queries[static_cast<std::size_t>(query)] >> d & 1) == 0) continue;
      const bool guarded = query == static_cast<int>(Query::GlobalSize) && session_.passesSize(d);
      const bool isOrigin = query == static_cast<int>(Query::Origin);
      queryNames_[queryKey(query, d)] = guarded    ? std::string("hpl_size_") + kAxes[d]
                                        : isOrigin ? std::string("hpl_origin_") + kAxes[d]
                                                   : scope_.claim(defaultQueryName(query, d));
    }
  }
}

std::string_view FunctionWriter::queryName(Query query, int dim) const {
  return queryNames_.at(queryKey(static_cast<int>(query), dim));
}

// Each query is asked once, at the top: the body then reads as the user wrote it.
void FunctionWriter::declareQueries() {
  for (int query = 0; query < kQueries; ++query) {
    for (int d = 0; d < 3; ++d) {
      const auto found = queryNames_.find(queryKey(query, d));
      if (found == queryNames_.end()) continue;
      if (query == static_cast<int>(Query::GlobalSize) && session_.passesSize(d)) continue;
      if (query == static_cast<int>(Query::Origin)) continue;
      const bool isShifted = query == static_cast<int>(Query::GlobalId) && session_.isSliced(d);
      session_.text.line("const ulong " + found->second + " = " +
                         ir::toString(static_cast<Query>(query)) + session_.ofAxis(d) +
                         (isShifted ? std::string(" + hpl_first_") + kAxes[d] : std::string()) +
                         ';');
    }
  }
}

std::string FunctionWriter::pointerTo(const Variable& variable, std::string_view name) const {
  std::string text = spaceQualifier(variable.space);
  const bool isConst = variable.space != Space::Constant && isArray(variable) &&
                       session_.usage.written.count(&variable) == 0;
  if (isConst) text += "const ";
  text += memoryType(variable.type, session_.options.hasHalf);
  text += "* ";
  text += name;
  return text;
}

std::string FunctionWriter::scalarParameter(const Variable& param, bool isKernel) const {
  std::string text = session_.usage.written.count(&param) == 0 ? "const " : "";
  // Kernels cannot take bool.
  const bool isBool = isKernel && param.type.scalar == Scalar::Bool;
  text += isBool ? std::string("uchar") : spell(param.type);
  return text + ' ' + names(&param).name;
}

// A parameter of a called function with the hidden ones that follow it.
void FunctionWriter::parameter(const Variable& param, std::vector<std::string>& out) const {
  const VariableNames& own = names(&param);
  if (!isArray(param)) {
    out.push_back(scalarParameter(param, false));
    return;
  }
  out.push_back(pointerTo(param, own.name));
  for (const std::string& stride : own.strides) out.push_back("const ulong " + stride);
  const bool checks = session_.options.checkBounds;
  if (param.role == Role::Alias) {
    if (!checks) return;
    out.push_back("long " + own.position);
    out.push_back("ulong " + own.span);
    out.push_back("int " + own.id);
    return;
  }
  if (!session_.passesExtents()) return;
  for (const std::string& extent : own.extents) out.push_back("const ulong " + extent);
  if (checks) out.push_back("const int " + own.id);
}

bool FunctionWriter::isAlone(const Variable& param) const {
  return session_.options.distinctArrays && param.space == Space::Global;
}

std::string FunctionWriter::localPointer(const Variable& local) const {
  const bool isByte = local.type.scalar == Scalar::Bool;
  const std::string type = isByte           ? std::string("uchar")
                           : local.rank > 0 ? storedType(local.type, session_.options.hasHalf)
                                            : spell(local.type);
  return "__local " + type + "* " + names(&local).name;
}

bool FunctionWriter::hasOffset(const Variable& param) const {
  const auto index = static_cast<std::size_t>(param.paramIndex);
  return param.space != Space::Local && isArray(param) && index < session_.options.offset.size() &&
         session_.options.offset[index];
}

const Variable* FunctionWriter::stridesFrom(const Variable& param) const {
  const auto index = static_cast<std::size_t>(param.paramIndex);
  if (!isKernel_ || index >= session_.options.stridesOf.size()) return nullptr;
  const int other = session_.options.stridesOf[index];
  return other < 0 ? nullptr : function_.params[static_cast<std::size_t>(other)];
}

void FunctionWriter::kernelSlots(const Variable& param, std::vector<std::string>& out,
                                 std::vector<Slot>& slots) const {
  const VariableNames& own = names(&param);
  const int index = param.paramIndex;
  if (!isArray(param)) {
    out.push_back(isConvertedHalf(param) ? "const ushort " + own.bits
                                         : scalarParameter(param, true));
    slots.push_back({Slot::Kind::Scalar, index, 0});
    return;
  }
  const bool isLocal = param.space == Space::Local;
  out.push_back(pointerTo(param, isAlone(param) ? "restrict " + own.name : own.name));
  slots.push_back({isLocal ? Slot::Kind::Local : Slot::Kind::Buffer, index, 0});
  if (hasOffset(param)) {
    out.push_back("const ulong " + own.name + "_offset");
    slots.push_back({Slot::Kind::Offset, index, 0});
  }
  for (std::size_t d = 0; stridesFrom(param) == nullptr && d < own.strides.size(); ++d) {
    out.push_back("const ulong " + own.strides[d]);
    slots.push_back({Slot::Kind::Stride, index, static_cast<int>(d)});
  }
  if (!session_.passesExtents()) return;
  for (std::size_t d = 0; d < own.extents.size(); ++d) {
    out.push_back("const ulong " + own.extents[d]);
    slots.push_back({Slot::Kind::Extent, index, static_cast<int>(d)});
  }
}

void FunctionWriter::signature(std::string_view prefix, const std::vector<std::string>& params) {
  Text& text = session_.text;
  text.beginLine() += prefix;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (i > 0) out_ += ", ";
    out_ += params[i];
  }
  out_ += ") {";
  text.endLine(function_.where);
}

void FunctionWriter::guard() {
  const int dims = session_.options.guardDims;
  if (dims <= 0) return;
  Text& text = session_.text;
  if (session_.loadsBeyond) {
    text.beginLine() += "const uint hpl_in = ";
    for (int d = 0; d < dims; ++d) {
      if (d > 0) out_ += " | ";
      out_ += "(get_global_id" + session_.ofAxis(d) + " < hpl_size_" + kAxes[d] + " ? " +
              std::to_string(1u << d) + "u : 0u)";
    }
    out_ += ';';
    text.endLine();
    text.line("const bool hpl_on = hpl_in == " + std::to_string(session_.guardedAxes()) + "u;");
    return;
  }
  text.beginLine() += session_.masked ? "const bool hpl_on = " : "if (";
  for (int d = 0; d < dims; ++d) {
    if (d > 0) out_ += session_.masked ? " && " : " || ";
    out_ += "get_global_id" + session_.ofAxis(d) + (session_.masked ? " < " : " >= ") +
            (session_.isSliced(d) ? "hpl_count_" : "hpl_size_");
    out_ += kAxes[d];
  }
  out_ += session_.masked ? ";" : ") return;";
  text.endLine();
}

// Moving the pointer once keeps the index expressions as they are without an offset.
void FunctionWriter::applyOffsets() {
  for (const Variable* param : function_.params) {
    if (!hasOffset(*param)) continue;
    const std::string& name = names(param).name;
    const int lanes = isConvertedHalf(*param) && param->type.isVector()
                          ? static_cast<int>(ir::sizeOf(param->type) / ir::sizeOf(Scalar::Half))
                          : 1;
    session_.text.line(name + " += " + name + "_offset" +
                       (lanes > 1 ? " * " + std::to_string(lanes) : std::string()) + ';');
  }
}

// Kernels cannot take half without cl_khr_fp16, but its bits.
void FunctionWriter::convertHalfParameters() {
  for (const Variable* param : function_.params) {
    if (isArray(*param) || !isConvertedHalf(*param)) continue;
    const std::string& name = names(param).name;
    session_.text.line("float " + name + " = " + fromHalf(param->type) + '(' + names(param).bits +
                       ");");
  }
}

// OpenCL C allows local variables in the outermost scope of kernels only.
void FunctionWriter::declareLocals() {
  for (const Variable* local : usage_.locals) {
    session_.text.beginLine() += "__local " + declarator(*local) + ';';
    session_.text.endLine(local->where);
  }
}

void FunctionWriter::writeKernel(std::vector<Slot>& slots) {
  std::vector<std::string> params;
  for (const Variable* param : function_.params) kernelSlots(*param, params, slots);
  for (int d = 0; d < 3; ++d) {
    const auto add = [&](const char* name, Slot::Kind kind) {
      params.push_back(std::string("const ulong ") + name + kAxes[d]);
      slots.push_back({kind, -1, d});
    };
    if ((usage_.origins >> d & 1) != 0) add("hpl_origin_", Slot::Kind::Origin);
    if (session_.passesSize(d)) add("hpl_size_", Slot::Kind::GuardSize);
    if (!session_.isSliced(d)) continue;
    add("hpl_first_", Slot::Kind::SliceFirst);
    if (d < session_.options.guardDims) add("hpl_count_", Slot::Kind::SliceCount);
  }
  if (usage_.hasProbes) {
    params.push_back("__global uint* hpl_probes");
    slots.push_back({Slot::Kind::ProbeBuffer, -1, 0});
  }
  if (session_.options.checkBounds) {
    params.push_back("__global int* hpl_error");
    slots.push_back({Slot::Kind::ErrorBuffer, -1, 0});
  }
  const std::string wide = session_.options.vectorBits > 0 ? "hpl_wide " : "";
  signature(wide + "__kernel void " + session_.functionNames.at(&function_) + '(', params);
  Text& text = session_.text;
  text.open();
  declareLocals();
  guard();
  applyOffsets();
  convertHalfParameters();
  declareQueries();
  if (bodyMayBeApart()) {
    bodyApart();
  } else {
    block(*function_.body);
  }
  if (!session_.streamed.empty()) text.line("hpl_streamed();");
  text.close();
  text.line("}");
}

void FunctionWriter::writeFunction() {
  std::vector<std::string> params;
  for (const Variable* param : function_.params) parameter(*param, params);
  for (const Variable* local : usage_.locals) params.push_back(localPointer(*local));
  for (int d = 0; d < 3; ++d) {
    if (session_.passesSize(d) && (usage_.globalSizes >> d & 1) != 0)
      params.push_back(std::string("const ulong hpl_size_") + kAxes[d]);
    if (session_.isSliced(d) && (usage_.globalIds >> d & 1) != 0)
      params.push_back(std::string("const ulong hpl_first_") + kAxes[d]);
    if ((usage_.origins >> d & 1) != 0)
      params.push_back(std::string("const ulong hpl_origin_") + kAxes[d]);
  }
  if (session_.masked) params.push_back("const bool hpl_on");
  if (session_.loadsBeyond) params.push_back("const uint hpl_in");
  if (usage_.hasProbes) params.push_back("__global uint* hpl_probes");
  if (session_.options.checkBounds) params.push_back("__global int* hpl_error");
  signature(spell(function_.result) + ' ' + session_.functionNames.at(&function_) + '(', params);
  Text& text = session_.text;
  text.open();
  declareQueries();
  block(*function_.body);
  text.close();
  text.line("}");
  text.endLine();
}

}  // namespace hpl::codegen::detail
