#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/feed_stream.h>
#include <pagoda/data/named_batch.h>
#include <pagoda/data/tower_share.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda::app {

using Rows = DatasetOf<NamedBatch>;

/// Which part of a data set is wanted, where it has parts.
enum class RowsPart { train, test };

/// Text that a program is trained on.
struct TextTokens {
  std::string tokens;       ///< "bytes", or the file of a SentencePiece model
  std::int64_t length = 0;  ///< tokens in a row
};

/// What is read, and as what.
struct RowsRequest {
  std::vector<std::string> files;
  std::vector<std::string> names;  ///< of the tensors of a row
  RowsPart part;
  std::uint64_t seed;
  std::optional<TextTokens> text = std::nullopt;  ///< where the files are text
};

/// The rows of the tensors of these names: from `.safetensors`, `.npy` and `.npz` files; from a
/// directory with CIFAR-10's binary files, whose images are then the first name and labels the
/// second (the training images moved by up to 2 pixels, and flipped in every other epoch); or from
/// text, whose tokens are the first name, and the tokens that follow them the second, if there is one.
/// Fails: UsageError for no files, or where names do not fit; otherwise as TensorTable, ImageRecords,
/// TextWindows.
std::unique_ptr<Rows> open_rows(const RowsRequest& request);

/// Rows in batches of just so many, for a program that takes no others; the rest is left out.
FeedStream<NamedBatch> whole_batches(const Rows& rows, TowerShare towers, std::int64_t batch_rows);

}  // namespace pagoda::app
