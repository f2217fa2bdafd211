#include "checkpoint/pickle_file.h"

#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>

#include <exception>
#include <utility>
#include <vector>

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include "base/quoted_text.h"
#include "base/zip_archive.h"
#include "checkpoint/file_memory.h"
#include "checkpoint/pickle_reader.h"
#include "checkpoint/stored_tensors.h"

namespace pagoda {
namespace {

constexpr const char* kPickleRecord = "/data.pkl";

/// Before there was the zip format, torch.save wrote a magic number and a row of pickles.
void check_zip_format(std::string_view bytes, const std::string& name) {
  constexpr std::string_view kMagicNumber = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20j\xa8P\x19.";
  if (!bytes.starts_with(kMagicNumber)) return;
  throw DataError(name +
                  " has torch.save's old format, which is no zip archive; in Python, "
                  "torch.save(torch.load(path, weights_only=True), path) brings it up to date");
}

/// Which the records of the archive lie in: "archive" for "archive/data.pkl".
std::string folder_of(const ZipArchive& archive, const std::string& name) {
  std::string folder;
  for (const auto& record : archive.records()) {
    const std::size_t slash = record.name.find('/');
    if (slash == 0 || slash == std::string_view::npos || record.name.substr(slash) != kPickleRecord)
      continue;
    if (!folder.empty()) throw DataError(name + " holds two files in one: two data.pkl");
    folder = record.name.substr(0, slash);
  }
  if (folder.empty())
    throw DataError(name + " is not what torch.save writes: the archive has no folder/data.pkl");
  return folder;
}

void check_byte_order(const ZipArchive& archive, const std::string& folder,
                      const std::string& name) {
  const auto* order = archive.find(folder + "/byteorder");
  if (order == nullptr || order->bytes == "little") return;
  throw DataError(name + " has numbers in byte order " + quoted_text(order->bytes) +
                  "; it must be little: save it on a machine of that kind");
}

/// Hands all bytes of the archive in their order to `take(data, bytes)`. LibTorch's writer ends the
/// process when it is told of a failure (its destructor tries again and throws), so it is not told:
/// the first error waits until the writer is gone.
template <class Take>
void write_archive(const c10::IValue& value, Take take) {
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

  std::exception_ptr failure;
  const auto take_if_well = [&](const void* data, std::size_t bytes) {
    try {
      if (!failure) take(data, bytes);
    } catch (...) {
      failure = std::current_exception();
    }
    return bytes;
  };
  {
    caffe2::serialize::PyTorchStreamWriter writer(take_if_well);
    torch::jit::writeArchiveAndTensors("data", pickled.data(), pickled.size(), pickler.tensorData(),
                                       writer);
    writer.writeEndOfFile();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void write_pickle(const c10::IValue& value, const std::filesystem::path& path) {
  AtomicFile file(path);
  write_archive(value, [&](const void* data, std::size_t bytes) { file.write(data, bytes); });
  file.commit();
}

std::string pickle_bytes(const c10::IValue& value) {
  std::string all;
  write_archive(value, [&](const void* data, std::size_t bytes) {
    all.append(static_cast<const char*>(data), bytes);
  });
  return all;
}

PickleValue read_pickle(const std::filesystem::path& path) {
  const FileMemory memory = read_file_memory(path);
  return read_pickle(memory.bytes(), path.string(), memory.owner);
}

PickleValue read_pickle(std::string_view bytes, const std::string& name,
                        std::shared_ptr<const void> owner) {
  check_zip_format(bytes, name);
  const ZipArchive archive(bytes, name);
  const std::string folder = folder_of(archive, name);
  check_byte_order(archive, folder, name);
  StoredTensors tensors(archive, folder, std::move(owner));
  const std::string pickle = folder + kPickleRecord;
  return parse_pickle(archive.find(pickle)->bytes, tensors,
                      name + " cannot be read: " + quoted_text(pickle));
}

}  // namespace pagoda
