/// description.json of a folder with a Kruskal tensor: which files belong together.
#pragma once

#include "io/model/matrix_files.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::io {

/// What the description says. It is written when all files are complete and before they get their names, and has their
/// temporary names: a writer that is killed in between leaves them there.
struct KruskalDescription {
    MatrixForm form = MatrixForm::npy;
    std::vector<std::int64_t> lengths{};  ///< of the modes
    std::int64_t components = 0;
    bool single = false;                     ///< float32, else float64
    bool has_biases = false;                 ///< of the rows of each mode, in files of as many rows as the factors', beside a mean
    double mean = 0;                         ///< of all elements, where there are biases
    std::vector<bool> is_listed{};           ///< by mode: the factor has nonempty rows only, and a file with their numbers
    std::vector<std::uint32_t> checksums{};  ///< file_checksum() of the files, in the order of kruskal_file_names()
    std::vector<std::string> temporary{};    ///< names before their own, in the same order
};

/// Name of lambda (mode 0) or of the factor of a mode, counted from 1.
std::string kruskal_file_name(int mode, MatrixForm form);

/// Name of the file with the numbers of a factor's rows.
std::string row_list_name(int mode, MatrixForm form);

/// Name of the file with the biases of a mode.
std::string bias_file_name(int mode, MatrixForm form);

/// All names of a set: lambda, the factors by mode, the numbers of rows of those that are listed, the biases by mode where there are some.
std::vector<std::string> kruskal_file_names(const std::vector<bool>& is_listed, MatrixForm form, bool has_biases);

/// The text of the file.
std::string to_text(const KruskalDescription& description);

/// Understands the text of a file. @throws InvalidArgument with the file's path if it is not what to_text() writes
KruskalDescription parse_description(const std::string& text, const std::string& path);

}  // namespace arges::io
