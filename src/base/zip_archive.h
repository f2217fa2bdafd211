#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// The records of a zip archive in memory. The archive may come from anywhere: everything that it
/// says is checked before it is used, and the work is bounded by the archive's size.
///
/// Checked are the directory, that each record lies where the directory says, inside of the
/// archive and apart from the others, that its own header says the same of it, and its CRC-32,
/// which LibTorch's readers do not look at: a flipped bit in a tensor would load as another number.
///
/// Threads: any, it does not change. Owns: the list of records; borrows the bytes, which must
/// outlive it.
///
///     const ZipArchive archive(bytes, "model.pt");
///     for (const auto& [name, content] : archive.records()) …
class ZipArchive {
 public:
  struct Record {
    std::string_view name;
    std::string_view bytes;  ///< as stored
  };

  /// What is to be done with compressed records. `torch.save` writes none; TorchScript compresses
  /// source texts, which can be checked here, but not read.
  enum class Compressed { refuse, check };

  /// `name` stands in messages.
  /// Fails: DataError that names the archive and the damaged record.
  ZipArchive(std::string_view bytes, const std::string& name,
             Compressed compressed = Compressed::refuse);

  /// By name, each name once.
  const std::vector<Record>& records() const { return records_; }

  /// Null when there is none of that name.
  const Record* find(std::string_view name) const;

 private:
  std::vector<Record> records_;
};

}  // namespace pagoda
