// SPDX-License-Identifier: Apache-2.0
#include "tests/strategies/support.h"

#include "hpl/ir/verifier.h"

namespace hpl::strategies::test {

std::vector<int> numbers(std::size_t count, unsigned seed) { return someNumbers<int>(count, seed); }

void runOriginal(const ir::Kernel& kernel, const Ids& ids, std::vector<ir::Argument> arguments) {
  ir::interpret(kernel, ir::NDRange{ids.dims, ids.count, {1, 1, 1}}, arguments);
}

void appendHidden(const std::vector<Hidden>& list, const Ids& ids,
                  const std::array<std::uint64_t, 3>& block, std::vector<ir::Argument>& arguments) {
  const std::vector<ir::Argument> own = arguments;
  for (const Hidden& hidden : list) {
    const auto axis = static_cast<std::size_t>(hidden.axis);
    std::uint64_t value = 0;
    switch (hidden.kind) {
      case Hidden::Kind::First:
        value = ids.first[axis];
        break;
      case Hidden::Kind::Count:
        value = ids.count[axis];
        break;
      case Hidden::Kind::Whole:
        value = ids.whole[axis] != 0 ? ids.whole[axis] : ids.count[axis];
        break;
      case Hidden::Kind::Block:
        value = block[axis];
        break;
      default: {
        const auto& array =
            std::get<ir::ArrayArgument>(own[static_cast<std::size_t>(hidden.param)]);
        value = static_cast<std::uint64_t>(array.extents[axis]);
      }
    }
    arguments.push_back(ir::scalarArgument(value));
  }
}

void runRows(const Rows& rows, const Ids& ids, const std::array<std::uint64_t, 3>& block,
             std::vector<ir::Argument> arguments) {
  ir::verify(*rows.kernel);
  appendHidden(rows.hidden, ids, block, arguments);
  ir::NDRange range{ids.dims, {1, 1, 1}, {1, 1, 1}};
  for (std::size_t a = 0; a < static_cast<std::size_t>(ids.dims); ++a)
    range.global[a] = (ids.count[a] + block[a] - 1) / block[a];
  ir::InterpreterOptions checks;
  checks.detectRaces = true;
  checks.detectUninitialised = true;
  ir::interpret(*rows.kernel, range, arguments, checks);
}

}  // namespace hpl::strategies::test
