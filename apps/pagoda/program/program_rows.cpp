#include "program/program_rows.h"

#include <pagoda/base/error.h>
#include <pagoda/data/image_dataset.h>
#include <pagoda/data/tensor_table.h>
#include <pagoda/text/text_windows.h>

#include <filesystem>
#include <numeric>
#include <utility>

namespace pagoda::app {
namespace {

ImageRecords read_images(const std::filesystem::path& directory, RowsPart part) {
  if (part == RowsPart::test) return ImageRecords::read({directory / "test_batch.bin"});
  std::vector<std::filesystem::path> files;
  for (int i = 1; i <= 5; ++i)
    files.push_back(directory / ("data_batch_" + std::to_string(i) + ".bin"));
  return ImageRecords::read(files);
}

/// CIFAR-10's images and labels under the names of a program's inputs.
class NamedImages : public Rows {
 public:
  NamedImages(const std::filesystem::path& directory, std::vector<std::string> names, RowsPart part,
              std::uint64_t seed)
      : images_(read_images(directory, part),
                {.view = part == RowsPart::train ? ImageView::shifted : ImageView::centre,
                 .crop = kImageSide,
                 .scale = ImageScale::channels,
                 .seed = seed}),
        names_(std::move(names)) {
    if (names_.size() == 2) return;
    throw UsageError(directory.string() + " has images and labels, and the program takes " +
                     std::to_string(names_.size()) +
                     " tensors of a row; give the data as .safetensors, .npz or .npy files");
  }

  std::int64_t size() const override { return images_.size(); }
  std::vector<DataInput> inputs() const override { return images_.inputs(); }

  NamedBatch get(std::span<const std::int64_t> samples, std::int64_t epoch) const override {
    const Batch batch = images_.get(samples, epoch);
    return {.tensors = {{names_[0], batch.input}, {names_[1], batch.target}},
            .samples = batch.samples};
  }

 private:
  const ImageDataset images_;
  const std::vector<std::string> names_;
};

std::unique_ptr<Rows> open_text(const RowsRequest& request, const TextTokens& text) {
  if (request.names.size() > 2) {
    throw UsageError("text has tokens and the tokens that follow them, and the program takes " +
                     std::to_string(request.names.size()) +
                     " tensors of a row; give the data as .safetensors, .npz or .npy files");
  }
  return std::make_unique<TextWindows>(
      std::vector<std::filesystem::path>(request.files.begin(), request.files.end()),
      text.tokens == "bytes" ? byte_encoder() : sentencepiece_encoder(text.tokens),
      TextWindowsOptions{.length = text.length,
                         .tokens = request.names.front(),
                         .next = request.names.size() == 2 ? request.names.back() : ""});
}

}  // namespace

std::unique_ptr<Rows> open_rows(const RowsRequest& request) {
  const auto& [files, names, part, seed, text] = request;
  const bool is_train = part == RowsPart::train;
  if (files.empty()) {
    throw UsageError(std::string("there is nothing to ") + (is_train ? "train" : "validate") +
                     " on; give --" + (is_train ? "data" : "valid") + " FILE");
  }
  if (text) return open_text(request, *text);
  if (std::error_code none; std::filesystem::is_directory(files.front(), none)) {
    if (files.size() == 1) return std::make_unique<NamedImages>(files.front(), names, part, seed);
    throw UsageError(files.front() + " is a directory, which must be given alone");
  }
  return std::make_unique<TensorTable>(
      std::vector<std::filesystem::path>(files.begin(), files.end()),
      TensorTableOptions{.names = names});
}

FeedStream<NamedBatch> whole_batches(const Rows& rows, TowerShare towers, std::int64_t batch_rows) {
  const auto make = [&rows, towers, batch_rows](std::int64_t step) {
    std::optional<StepFeeds<NamedBatch>> feeds;
    for (std::int64_t tower = 0; tower < towers.total; ++tower) {
      const std::int64_t first = (step * towers.total + tower) * batch_rows;
      if (first + batch_rows > rows.size()) break;
      if (!feeds) feeds.emplace();
      if (!towers.has_feed(static_cast<std::size_t>(tower))) continue;
      std::vector<std::int64_t> samples(static_cast<std::size_t>(batch_rows));
      std::iota(samples.begin(), samples.end(), first);
      feeds->push_back(rows.get(samples, 0));
    }
    return feeds;
  };
  return {make, 1, 2};
}

}  // namespace pagoda::app
