#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/named_batch.h>
#include <pagoda/program/exported_program.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pagoda::app {

using Rows = DatasetOf<NamedBatch>;

/// Which part of a data set is wanted, where it has parts.
enum class RowsPart { train, test };

/// The rows of the tensors of these names: from `.safetensors`, `.npy` and `.npz` files, or from a
/// directory with CIFAR-10's binary files, whose images are then the first name and labels the
/// second (the training images moved by up to 2 pixels, and flipped in every other epoch).
/// Fails: UsageError for no files, or where names do not fit; otherwise as TensorTable, ImageRecords.
std::unique_ptr<Rows> open_rows(const std::vector<std::string>& files,
                                const std::vector<std::string>& names, RowsPart part,
                                std::uint64_t seed);

}  // namespace pagoda::app
