#include "checkpoint/pickle_file.h"

#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

#include <exception>
#include <vector>

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include "checkpoint/zip_check.h"

namespace pagoda {
namespace {

/// Hands the archive's bytes to the file. LibTorch's writer ends the process when it is told of a
/// failure (its destructor tries again and throws), so it is not told: the first error waits here.
class FileSink {
 public:
  explicit FileSink(AtomicFile& file) : file_(file) {}

  std::size_t write(const void* data, std::size_t bytes) {
    if (error_) return bytes;
    try {
      file_.write(data, bytes);
    } catch (...) {
      error_ = std::current_exception();
    }
    return bytes;
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  AtomicFile& file_;
  std::exception_ptr error_;
};

}  // namespace

void write_pickle(const c10::IValue& value, const std::filesystem::path& path) {
  std::vector<char> pickled;
  // Without aggregate tags: those name LibTorch's types, which weights_only=True refuses.
  torch::jit::Pickler pickler(
      [&](const char* data, std::size_t bytes) {
        pickled.insert(pickled.end(), data, data + bytes);
      },
      nullptr, nullptr, nullptr, nullptr, /*tag_aggregates=*/false);
  pickler.protocol();
  pickler.pushIValue(value);
  pickler.stop();

  AtomicFile file(path);
  FileSink sink(file);
  {
    caffe2::serialize::PyTorchStreamWriter writer(
        [&](const void* data, std::size_t bytes) { return sink.write(data, bytes); });
    torch::jit::writeArchiveAndTensors("data", pickled.data(), pickled.size(), pickler.tensorData(),
                                       writer);
    writer.writeEndOfFile();
  }
  sink.rethrow();
  file.commit();
}

c10::IValue read_pickle(const std::filesystem::path& path) {
  const std::vector<char> bytes = read_bytes(path);
  check_zip({bytes.data(), bytes.size()}, path.string());
  try {
    return torch::jit::pickle_load(bytes);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    throw DataError(path.string() +
                    " cannot be read as a checkpoint: " + reason.substr(0, reason.find('\n')));
  }
}

}  // namespace pagoda
