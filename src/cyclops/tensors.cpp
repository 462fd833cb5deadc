// Tensors as programs for Cyclops see them: fields, copies, symmetries, reductions, printing.
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <sstream>

namespace CTF_int {

using arges::AnyTensor;
using arges::InvalidArgument;

namespace {

/// The symmetry of a vector of STRUCTUREs, of which the last is not looked at; null means none.
arges::Symmetry symmetry_of(int order, const int* relations) {
    if (relations == nullptr || order == 0) return {};
    std::vector<arges::Relation> result;
    for (int d = 0; d < order; ++d) {
        const int relation = d + 1 < order ? relations[d] : NS;
        if (relation < NS || relation > SH)
            throw InvalidArgument("symmetry " + std::to_string(relation) + " of dimension " + std::to_string(d) +
                                  "; it is one of NS, SY, AS and SH");
        result.push_back(static_cast<arges::Relation>(relation));
    }
    return arges::Symmetry::from_relations(result);
}

/// Vector form of a symmetry that was made from one.
std::vector<int> relations_of(const arges::Symmetry& symmetry, int order) {
    std::vector<int> result(order, NS);
    for (const auto& slot : symmetry.slots()) {
        const auto dims = slot.dimensions();
        const int kind = slot.kind == arges::NodeKind::symmetric       ? SY
                         : slot.kind == arges::NodeKind::antisymmetric ? AS
                         : slot.kind == arges::NodeKind::hollow        ? SH
                                                                       : NS;
        for (std::size_t d = 0; d + 1 < dims.size(); ++d) result[dims[d]] = kind;
    }
    return result;
}

/// A number from 0 to 1 for a key.
double random_part(std::int64_t key, std::uint64_t seed) {
    auto bits = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U;
    bits = (bits ^ std::rotl(bits, 29)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 31)) * 0x94D049BB133111EBU;
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

bool is_integer(arges::ElementType type) {
    return type == arges::ElementType::int16 || type == arges::ElementType::int32 || type == arges::ElementType::int64;
}

/// So many elements at random places, of which each rank finds its share; fewer where places are the same.
void random_sparse(tensor& handle, std::uint64_t seed, double low, double high, double fraction) {
    auto& own = of(handle);
    own.erase();
    const auto type = own.element();
    const auto size = own.size(), ranks = own.world().size();
    Pairs pairs{{}, Values(own.kernels())};
    const auto wanted = static_cast<std::int64_t>(std::llround(fraction * static_cast<double>(size)));
    for (auto i = own.world().rank(); i < wanted; i += ranks) {
        const bool all = wanted == size;
        const auto key = all ? i : std::min(static_cast<std::int64_t>(random_part(i, seed * 3) * static_cast<double>(size)), size - 1);
        const auto canonical = own.canonical_key(own.index(key));
        if (canonical.zero) continue;
        const double value = low + random_part(canonical.key, seed) * (high - low);
        const auto element = arges::element_from(is_integer(type) ? arges::Number(static_cast<std::int64_t>(value)) : value, type);
        pairs.keys.push_back(canonical.key);
        pairs.values.add(element.data());
    }
    own.write_pairs(pairs.keys, pairs.values.data(), std::ssize(pairs.keys), arges::Duplicates::keep_first);
    handle.tell_stored();
}

template <class T>
void replace(T*& array, const std::vector<T>& values) {
    delete[] array;
    array = new T[values.size()];
    std::copy(values.begin(), values.end(), array);
}

/// The smallest absolute value. Collective.
double least_magnitude(const AnyTensor& tensor) {
    const auto labels = arges::all_labels(tensor.order());
    use(tensor.kernels());
    AnyTensor magnitudes(arges::ElementType::float64, arges::Storage::dense, tensor.world(), tensor.extents());
    const auto& kernels = arges::element_kernels(tensor.element());
    const auto f = [&](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
        const auto* const from = static_cast<const char*>(inputs[0]);
        for (std::int64_t i = 0; i < count; ++i)
            static_cast<double*>(results)[i] = static_cast<double>(kernels.reductions->magnitude(from + i * kernels.size));
    };
    magnitudes[labels].apply({unpacked(tensor)[labels]}, f, false, arges::MapOver::all);
    double result = 0;
    magnitudes.least_or_largest_to(false, &result);
    return result;
}

}  // namespace

AnyTensor& of(const tensor& handle) {
    if (handle.body() == nullptr)
        throw InvalidArgument("a tensor that was made without arguments; assign a tensor with a shape to it before it is used");
    if (handle.body()->is_given) take_back(*handle.body());
    use(handle.body()->tensor.kernels());
    return handle.body()->tensor;
}

AnyTensor made(const arges::ElementKernels& kernels, arges::Storage storage, const arges::World& world, std::vector<std::int64_t> extents) {
    const auto own_storage = extents.empty() ? arges::Storage::dense : storage;
    return AnyTensor(kernels, own_storage, world, std::move(extents), {}, "");
}

AnyTensor to_dense(const AnyTensor& tensor) {
    use(tensor.kernels());
    if (!tensor.is_sparse()) return tensor;
    AnyTensor result(tensor.kernels(), arges::Storage::dense, tensor.world(), tensor.extents(), tensor.symmetry(), "");
    auto pairs = pairs_of(tensor);
    result.accumulate_pairs(pairs.keys, pairs.values.data(), std::ssize(pairs.keys), nullptr, tensor.kernels().zero);
    return result;
}

AnyTensor to_sparse(const AnyTensor& tensor) {
    use(tensor.kernels());
    return tensor.is_sparse() ? tensor : tensor.sparse_where([](const void*) { return true; }, 0);
}

AnyTensor unpacked(AnyTensor tensor) {
    use(tensor.kernels());
    if (!tensor.symmetry().trivial()) tensor = tensor.with_symmetry(arges::Symmetry::none(tensor.order()));
    return tensor;
}

tensor::tensor()
    : order(0), lens(nullptr), sym(nullptr), size(0), is_sparse(false), nnz_tot(0), sr(nullptr), wrld(nullptr), name(nullptr), data(*this) {
    set_name("");
}

tensor::tensor(const tensor& other) : tensor() { *this = other; }

tensor& tensor::operator=(const tensor& other) {
    if (this == &other) return *this;
    if (other.body_ == nullptr) {
        free_self();
        return *this;
    }
    if (name[0] == 0) set_name(other.name);
    become(held(of(other)), other, nullptr);
    return *this;
}

tensor::~tensor() {
    if (body_) body_->handle = nullptr;
    delete[] lens;
    delete[] sym;
    delete[] name;
    delete wrld;
}

void tensor::set_name(const char* text) {
    const std::string given = text == nullptr ? "" : text;
    delete[] name;
    name = new char[given.size() + 1];
    std::copy(given.c_str(), given.c_str() + given.size() + 1, name);
    if (body_) body_->tensor.set_name(given);
}

void tensor::become(const std::shared_ptr<Body>& body, const tensor& like, const CTF::World* world) {
    hold(body, world == nullptr ? *like.wrld : *world);
}

void tensor::hold(const std::shared_ptr<Body>& body, const CTF::World& world) {
    auto* const own_world = new CTF::World(world);
    delete wrld;
    wrld = own_world;
    if (body_) body_->handle = nullptr;
    body_ = body;
    body_->handle = this;
    body_->tensor.set_name(name);  // any text, also what would be a symmetry in a constructor
    const auto& own = body->tensor;
    sr = algebra_of(own.kernels());
    order = own.order();
    replace(lens, own.extents());
    replace(sym, relations_of(own.symmetry(), order));
    tell_stored();
}

void tensor::tell_stored() {
    const auto& own = body_->tensor;
    is_sparse = own.is_sparse();
    size = nnz_tot = own.stored();
}

void tensor::require_element(const std::type_info& type) const {
    const auto& own = of(*this);
    if (*own.kernels().type != type)
        throw InvalidArgument(own.title() + " has elements of type " + own.kernels().type->name() + ", not " + type.name() +
                              "; convert them by a Function");
}

void tensor::require_order(int dimensions) const {
    if (of(*this).order() != dimensions)
        throw InvalidArgument(of(*this).title() + " is of order " + std::to_string(order) + ", not " + std::to_string(dimensions) +
                              "; reshape it");
}

bool tensor::has_symmetry() const { return body_ != nullptr && !body_->tensor.symmetry().trivial(); }

std::int64_t tensor::get_tot_size(bool packed) const {
    if (body_ == nullptr) return 0;
    const auto& own = body_->tensor;
    if (!packed || !own.is_sparse()) return packed ? own.stored() : own.size();
    std::int64_t result = 1;
    for (const auto& slot : own.symmetry().slots()) {
        const auto dims = slot.dimensions();
        const bool hollow = slot.kind == arges::NodeKind::antisymmetric || slot.kind == arges::NodeKind::hollow;
        std::int64_t orbits = 1;
        const auto k = std::ssize(dims), n = own.extents()[dims[0]];
        for (std::int64_t i = 0; i < k; ++i) orbits = orbits * (hollow ? n - i : n + i) / (i + 1);
        result *= orbits;
    }
    return result;
}

void tensor::set_zero() {
    auto& own = of(*this);
    if (own.is_sparse())
        own.erase();
    else
        own.fill_with(own.kernels().zero);
    tell_stored();
}

void tensor::addinv() {
    auto& own = of(*this);
    const auto& kernels = own.kernels();
    own.world().agree([&] {
        if (!kernels.has_negative) throw InvalidArgument(own.title() + ": addinv() of elements without negatives; use a Group or a Ring");
    });
    auto pairs = pairs_of(own);
    for (std::int64_t i = 0; i < pairs.values.count(); ++i) kernels.multiple(-1, pairs.values.at(i), pairs.values.at(i));
    own.accumulate_pairs(pairs.keys, pairs.values.data(), std::ssize(pairs.keys), nullptr, kernels.zero);
}

void tensor::free_self() {
    if (body_) body_->handle = nullptr;
    body_.reset();
    order = 0;
    size = nnz_tot = 0;
}

void tensor::make(const algstrct& algebra, bool sparse, int dimensions, const std::int64_t* lengths, const int* symmetry,
                  const CTF::World& world, const char* text) {
    const std::vector<std::int64_t> extents(lengths, lengths + dimensions);
    set_name(text);
    const auto& kernels = kernels_of(algebra);
    use(kernels);
    const auto tree = symmetry_of(dimensions, symmetry);
    hold(held(AnyTensor(kernels, sparse && dimensions > 0 ? arges::Storage::sparse : arges::Storage::dense, world.body()->world, extents,
                        tree.trivial() ? arges::GivenSymmetry() : tree, "")),
         world);
}

void tensor::make(const algstrct& algebra, bool sparse, int dimensions, const int* lengths, const int* symmetry, const CTF::World& world,
                  const char* text) {
    make(algebra, sparse, dimensions, std::vector<std::int64_t>(lengths, lengths + dimensions).data(), symmetry, world, text);
}

void tensor::make_like(const tensor& other, const CTF::World& world) {
    of(other);
    make(*other.sr, other.is_sparse, other.order, other.lens, other.sym, world, other.name);
}

void tensor::make_with(const tensor& other, const int* symmetry) {
    of(other);
    make(*other.sr, other.is_sparse, other.order, other.lens, symmetry, *other.wrld, other.name);
    auto& own = of(*this);
    auto pairs = pairs_of(of(other));
    Indices indices(own);
    pairs.keep([&](std::int64_t i) {
        indices.of(pairs.keys[i]);
        return indices.is_stored();
    });
    put_back(own, pairs);
    tell_stored();
}

void tensor::set_all(const void* value) {
    of(*this);
    std::string labels;
    for (int d = 0; d < order; ++d) labels.push_back(static_cast<char>(d + 1));
    assign({body_, labels}, *Term::of_value(*sr, value).formula(), std::int64_t{0}, 1);
}

void tensor::random(double low, double high, double fraction) {
    auto& own = of(*this);
    const auto seed = ++wrld->body()->fills;
    if (own.is_sparse()) return random_sparse(*this, seed, low, high, fraction);
    const auto type = own.element();
    const bool is_whole = is_integer(type);
    if (!is_whole) own.fill_random(seed, low, high);
    if (!is_whole && fraction >= 1) return;
    auto pairs = pairs_of(own);
    for (std::size_t i = 0; i < pairs.keys.size(); ++i) {
        const bool stays = random_part(pairs.keys[i], ~seed) < fraction;
        if (stays && !is_whole) continue;
        const auto whole = stays ? static_cast<std::int64_t>(low + random_part(pairs.keys[i], seed) * (high - low)) : 0;
        const auto value = arges::element_from(whole, type);
        std::memcpy(pairs.values.at(i), value.data(), own.kernels().size);
    }
    put_back(own, pairs);
}

void tensor::make_reshaped(const tensor& source, const std::vector<std::int64_t>& lengths) {
    const auto whole = unpacked(of(source));
    const auto wanted = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{1}, std::multiplies<>());
    whole.world().agree([&] {
        if (whole.is_sparse() && (wanted != whole.size() || lengths.empty()))
            throw InvalidArgument("reshape of " + std::to_string(whole.size()) + " elements into " + std::to_string(wanted) +
                                  "; give lengths with the same product");
    });
    auto reshaped = whole.is_sparse() ? made(whole.kernels(), arges::Storage::sparse, whole.world(), lengths) : whole.reshaped(lengths);
    if (whole.is_sparse()) {
        auto pairs = pairs_of(whole);
        reshaped.write_pairs(pairs.keys, pairs.values.data(), std::ssize(pairs.keys), arges::Duplicates::refuse);
    }
    become(held(std::move(reshaped)), source, nullptr);
}

void tensor::add_reshaped(const tensor& source, const void* alpha, const void* beta) {
    auto& own = of(*this);
    tensor reshaped;
    reshaped.make_reshaped(source, own.extents());
    const std::vector<std::int64_t> begin(order, 0), end = own.extents();
    put_slice(begin.data(), end.data(), beta, reshaped, begin.data(), end.data(), alpha);
}

void tensor::reduce_to(CTF::OP op, void* result) const {
    const auto& stored = of(*this);
    if (op == CTF::OP_SUM && (is_own(stored.kernels()) || stored.is_sparse())) {
        arges::ElementValue sum(stored.kernels().size);
        arges::statements::total({{.factors = {stored.labelled(arges::all_labels(order))}}}, stored.kernels(), sum.data());
        std::memcpy(result, sum.data(), program_bytes(stored.kernels()));
        return;
    }
    const auto own = to_dense(stored);
    const auto number = [&](double value) {
        arges::with_element_type(own.element(), [&]<class T>() {
            *static_cast<T*>(result) = static_cast<arges::real_of<T>>(std::is_integral_v<T> ? std::round(value) : value);
        });
    };
    switch (op) {
    case CTF::OP_SUM: own.sum_to(result); return;
    case CTF::OP_SUMABS: number(own.norm1()); return;
    case CTF::OP_SUMSQ: number(own.norm() * own.norm()); return;
    case CTF::OP_MAXABS: number(own.norm_max()); return;
    case CTF::OP_MAX: own.least_or_largest_to(true, result); return;
    case CTF::OP_MIN: own.least_or_largest_to(false, result); return;
    default: number(least_magnitude(own));
    }
}

double tensor::norm(int which) const {
    const auto& own = of(*this);
    return which == 2 ? own.norm() : which == 1 ? to_dense(own).norm1() : to_dense(own).norm_max();
}

void tensor::compare_to(const tensor& other, FILE* file, double cutoff) const {
    const auto own = to_dense(of(*this));
    const auto& kernels = arges::element_kernels(own.element());
    own.world().agree([&] { other.require_element(*own.kernels().type); });
    Values mine(own.kernels()), others(own.kernels());
    own.gather_all(mine.room());
    to_dense(of(other)).gather_all(others.room());
    own.world().agree([&] {
        if (mine.count() != others.count()) throw InvalidArgument("compare: tensors of different shapes; give tensors of one shape");
    });
    std::ostringstream text;
    for (std::int64_t key = 0; wrld->rank == 0 && key < mine.count(); ++key) {
        const auto difference = arges::with_element_type(own.element(), [&]<class T>() {
            const T result = static_cast<T>(*reinterpret_cast<const T*>(mine.at(key)) - *reinterpret_cast<const T*>(others.at(key)));
            return kernels.reductions->magnitude(&result);
        });
        if (difference <= cutoff) continue;
        for (auto i : own.index(key)) text << i << ' ';
        kernels.reductions->print(text, mine.at(key));
        kernels.reductions->print(text << ' ', others.at(key));
        text << '\n';
    }
    std::fputs(text.str().c_str(), file);
    std::fflush(file);
}

void tensor::print_to(FILE* file, double cutoff) const {
    std::ostringstream text;
    to_dense(of(*this)).print(text, std::max(cutoff, 0.0));
    if (wrld->rank == 0) std::fputs(text.str().c_str(), file);
    std::fflush(file);
}

}  // namespace CTF_int
