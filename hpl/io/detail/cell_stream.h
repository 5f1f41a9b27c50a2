// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hpl/io/detail/cells.h"
#include "hpl/io/detail/file_type.h"
#include "hpl/io/detail/new_file.h"
#include "hpl/io/detail/source_file.h"

namespace hpl::io::detail {

/// Writes the elements of the cells in row-major order.
void writeCells(NewFile& file, const Cells& cells, const ElementCodec& codec);

/// Fills the cells, in row-major order, from the next bytes of the file. Cells may have changed
/// when this throws FileError.
void readCells(SourceFile& file, const CellLayout& layout, void* first, const ElementCodec& codec);

/// Bytes of the elements of a shape, `elementBytes` each; -1 from 2^63 on.
std::int64_t bytesOf(const std::vector<std::int64_t>& shape, std::int64_t elementBytes);

}  // namespace hpl::io::detail
