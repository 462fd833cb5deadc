#include "io/model/matrix_files_npy.hpp"

#include "arges/error.hpp"
#include "io/file/npy_array.hpp"

namespace arges::io {

std::string npy_header(MatrixShape shape, NumberType type) { return npy_array_header({type, false, {shape.rows, shape.columns}}); }

NpyHeader read_npy_header(const InputFile& file) {
    const auto array = read_npy_array_header(file);
    if (array.type.is_complex()) throw InvalidArgument(file.path() + ": the .npy file is of complex numbers; save real ones");
    if (array.extents.empty() || array.extents.size() > 2)
        throw InvalidArgument(file.path() + ": the .npy file has " + std::to_string(array.extents.size()) +
                              " dimensions; a matrix has two, and a vector one");
    return {{array.extents[0], array.extents.size() == 2 ? array.extents[1] : 1}, array.type, array.is_fortran_order, array.data};
}

}  // namespace arges::io
