// What sparse tensors need beside statements: which elements are stored, functions of stored elements, text files.
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

namespace CTF_int {

using arges::AnyTensor;
using arges::ElementKernels;

namespace {

/// Elements as the program has them: the array itself where they are stored so.
const void* as_program(const ElementKernels& kernels, const void* stored, std::int64_t count, std::vector<char>& room) {
    const auto bytes = program_bytes(kernels);
    if (bytes == kernels.size) return stored;
    room.resize(count * bytes);
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(room.data() + i * bytes, static_cast<const char*>(stored) + i * kernels.size, bytes);
    return room.data();
}

/// Tuples of indices that the sparse operands have in common, in the order of labels.
std::vector<std::vector<std::int64_t>> common_places(const std::vector<Operand>& sparse, const std::string& labels) {
    std::optional<AnyTensor> shared;
    if (sparse.size() > 1 || labels != sparse[0].labels) {
        const auto& kernels = arges::element_kernels(arges::ElementType::boolean);
        std::vector<AnyTensor> stored;
        arges::Term product;
        for (const auto& operand : sparse) {
            stored.push_back(stored_places(operand.body->tensor));
            product.factors.push_back(stored.back().labelled(names_of(operand.labels)));
        }
        shared = made(kernels, arges::Storage::sparse, stored[0].world(), extents_of(labels, sparse));
        arges::statements::assign(shared->labelled(names_of(labels)), {product}, kernels.zero, kernels);
    }
    const auto& places = shared ? *shared : sparse[0].body->tensor;
    std::vector<std::vector<std::int64_t>> result;
    for (auto key : pairs_of(places).keys) result.push_back(places.index(key));
    return result;
}

}  // namespace

arges::statements::BulkFunction bulk(const Call& call, const std::vector<Operand>& operands) {
    std::vector<const ElementKernels*> tables;
    for (const auto& operand : operands) tables.push_back(&operand.body->tensor.kernels());
    return [loop = call.loop, result = call.result, tables, mutex = std::make_shared<std::mutex>()](const std::vector<const void*>& inputs,
                                                                                                    void* results, std::int64_t count) {
        const std::lock_guard lock(*mutex);
        std::vector<std::vector<char>> rooms(inputs.size() + 1);
        std::vector<const void*> given;
        for (std::size_t i = 0; i < inputs.size(); ++i) given.push_back(as_program(*tables[i], inputs[i], count, rooms[i]));
        const auto* const to = as_program(*result, results, count, rooms.back());
        loop(count, given.data(), const_cast<void*>(to));
        if (to == results) return;
        Values changed(*result, to, count);
        std::copy_n(changed.data(), count * result->size, static_cast<char*>(results));
    };
}

AnyTensor stored_places(const AnyTensor& tensor) {
    auto result = made(arges::element_kernels(arges::ElementType::boolean), arges::Storage::sparse, tensor.world(), tensor.extents());
    const auto keys = pairs_of(tensor).keys;
    const std::vector<char> there(keys.size(), 1);
    result.write_pairs(keys, there.data(), std::ssize(keys), arges::Duplicates::refuse);
    return result;
}

Operand values_of(const Call& call, const std::vector<Operand>& operands) {
    std::vector<Operand> sparse;
    for (const auto& operand : operands)
        if (operand.body->tensor.is_sparse()) sparse.push_back(operand);
    const auto& world = sparse[0].body->tensor.world();
    const auto inner = all_labels("", sparse), labels = all_labels(inner, operands);
    const auto extents = extents_of(labels, operands);
    Operand values{held(made(*call.result, arges::Storage::sparse, world, extents)), labels};
    if (operands.size() == 1 && labels == operands[0].labels) {
        const auto own = pairs_of(operands[0].body->tensor);
        std::vector<char> results(own.keys.size() * call.result->size);
        world.agree([&] { bulk(call, operands)({own.values.data()}, results.data(), own.values.count()); });
        use(*call.result);
        values.body->tensor.write_pairs(own.keys, results.data(), own.values.count(), arges::Duplicates::refuse);
        return values;
    }
    const auto places = common_places(sparse, inner);
    std::int64_t repeated = 1;
    for (auto d = inner.size(); d < labels.size(); ++d) repeated *= extents[d];
    std::vector<std::int64_t> keys;
    std::vector<std::vector<std::int64_t>> keys_there(operands.size());
    for (const auto& place : places)
        for (std::int64_t k = 0, rest = 0; k < repeated; ++k) {
            auto index = place;
            rest = k;
            for (auto d = inner.size(); d < labels.size(); rest /= extents[d++]) index.push_back(rest % extents[d]);
            keys.push_back(values.body->tensor.key(index));
            for (std::size_t o = 0; o < operands.size(); ++o) {
                std::vector<std::int64_t> there;
                for (char label : operands[o].labels) there.push_back(index[labels.find(label)]);
                keys_there[o].push_back(operands[o].body->tensor.key(there));
            }
        }
    std::vector<Values> found;
    std::vector<const void*> inputs;
    for (std::size_t o = 0; o < operands.size(); ++o) found.push_back(read(operands[o].body->tensor, keys_there[o]));
    for (auto& value : found) inputs.push_back(value.data());
    std::vector<char> results(keys.size() * call.result->size);
    world.agree([&] { bulk(call, operands)(inputs, results.data(), std::ssize(keys)); });
    use(*call.result);
    values.body->tensor.write_pairs(keys, results.data(), std::ssize(keys), arges::Duplicates::refuse);
    return values;
}

void tensor::keep(const std::function<bool(const void*)>& stays) {
    auto& own = of(*this);
    const auto test = [&, is_zero = own.kernels().is_zero](const void* element) {
        std::vector<char> room;
        return stays ? stays(as_program(own.kernels(), element, 1, room)) : !is_zero(element);
    };
    if (own.is_sparse())
        own.keep_if("sparsify", [&](arges::Index, const void* element) { return test(element); });
    else if (order > 0)
        own = own.sparse_where(test, 0);
    tell_stored();
}

void tensor::densify() {
    auto& own = of(*this);
    if (own.is_sparse()) own = CTF_int::to_dense(own);
    tell_stored();
}

void tensor::to_text(const char* path, bool values, bool reversed) const {
    const auto whole = unpacked(of(*this));
    Values elements(whole.kernels());
    if (!whole.is_sparse()) throw arges::InvalidArgument("write_sparse_to_file of a dense tensor; call sparsify() before");
    const auto indices = whole.gather_entries(elements.room(), false);
    whole.world().agree([&] {
        if (whole.world().rank() > 0) return;
        std::ofstream file(path);
        for (std::int64_t k = 0; k < elements.count(); ++k) {
            for (int d = 0; d < order; ++d) file << (d > 0 ? " " : "") << indices[reversed ? order - 1 - d : d][k];
            if (values) file << ' ' << whole.kernels().text(elements.at(k));
            file << '\n';
        }
        if (!file.flush()) throw arges::Error(std::string(path) + " cannot be written");
    });
}

void tensor::from_text(const char* path, bool values, bool reversed) {
    auto& own = of(*this);
    Pairs pairs{{}, Values(own.kernels())};
    own.world().agree([&] {
        if (own.world().rank() > 0) return;
        std::ifstream file(path);
        if (!file) throw arges::Error(std::string(path) + " cannot be read");
        std::int64_t number = 0;
        for (std::string text; std::getline(file, text);) {
            ++number;
            if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
            std::istringstream line(text);
            std::vector<std::int64_t> index(order);
            double real = 1;
            for (int d = 0; d < order; ++d) line >> index[reversed ? order - 1 - d : d];
            if (values) line >> real;
            if (!line)
                throw arges::Error(std::string(path) + ", line " + std::to_string(number) + ": not " + std::to_string(order) + " indices" +
                                   (values ? " and a number" : ""));
            pairs.keys.push_back(own.key(index));
            pairs.values.add(element_of(real, own.kernels()).data());
        }
    });
    put_stored(own, pairs.keys, pairs.values.data(), nullptr, own.kernels().zero);
    tell_stored();
}

}  // namespace CTF_int
