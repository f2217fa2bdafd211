#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file_tensor.h"

namespace pagoda {

/// Takes apart what numpy.save writes (numpy.lib.format). The file may come from anywhere: all that
/// it says is checked, and nothing of it is run (arrays of Python objects are refused). The tensor's
/// bytes are those that were given, and not necessarily aligned.
///
/// `source` stands in messages; the tensor gets the name `name`.
/// Fails: DataError that names the source.
FileTensor parse_npy(std::string_view bytes, const std::string& source, const std::string& name);

/// The same for numpy.savez: an archive of such files, whose checksums are compared.
std::vector<FileTensor> parse_npz(std::string_view bytes, const std::string& source);

}  // namespace pagoda
