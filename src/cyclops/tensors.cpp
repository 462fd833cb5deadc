// Tensors as programs for Cyclops see them: fields, copies, symmetries, reductions, printing.
#include "arges/element_functions.hpp"
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

namespace CTF_int {

using arges::AnyTensor;
using arges::InvalidArgument;

namespace {

arges::ElementType type_of(Element element) { return static_cast<arges::ElementType>(element); }

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

template <class T>
void replace(T*& array, const std::vector<T>& values) {
    delete[] array;
    array = new T[values.size()];
    std::copy(values.begin(), values.end(), array);
}

/// The smallest absolute value. Collective.
double least_magnitude(const AnyTensor& tensor) {
    const auto labels = arges::all_labels(tensor.order());
    AnyTensor magnitudes(arges::ElementType::float64, arges::Storage::dense, tensor.world(), tensor.extents());
    const auto& kernels = tensor.kernels();
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
    return handle.body()->tensor;
}

AnyTensor unpacked(AnyTensor tensor) {
    if (!tensor.symmetry().trivial()) tensor = tensor.with_symmetry(arges::Symmetry::none(tensor.order()));
    return tensor;
}

tensor::tensor() : order(0), lens(nullptr), sym(nullptr), size(0), is_sparse(false), nnz_tot(0), sr(nullptr), wrld(nullptr), name(nullptr) {
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
    become(std::make_shared<Body>(Body{of(other)}), other, nullptr);
    return *this;
}

tensor::~tensor() {
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
    sr = like.sr;
    hold(body, world == nullptr ? *like.wrld : *world);
}

void tensor::hold(const std::shared_ptr<Body>& body, const CTF::World& world) {
    auto* const own_world = new CTF::World(world);
    delete wrld;
    wrld = own_world;
    body_ = body;
    const auto& own = body->tensor;
    order = own.order();
    replace(lens, own.extents());
    replace(sym, relations_of(own.symmetry(), order));
    size = own.stored();
    nnz_tot = own.stored();
}

void tensor::require_element(Element element) const {
    if (of(*this).element() != type_of(element))
        throw InvalidArgument(of(*this).title() + " has elements of type " + arges::to_string(of(*this).element()) + ", not " +
                              arges::to_string(type_of(element)) + "; convert them by a Function");
}

void tensor::require_order(int dimensions) const {
    if (of(*this).order() != dimensions)
        throw InvalidArgument(of(*this).title() + " is of order " + std::to_string(order) + ", not " + std::to_string(dimensions) +
                              "; reshape it");
}

bool tensor::has_symmetry() const { return body_ != nullptr && !body_->tensor.symmetry().trivial(); }
std::int64_t tensor::get_tot_size(bool packed) const {
    return body_ == nullptr ? 0 : packed ? body_->tensor.stored() : body_->tensor.size();
}
void tensor::set_zero() { of(*this).fill(std::int64_t{0}); }

void tensor::free_self() {
    body_.reset();
    order = 0;
    size = nnz_tot = 0;
}

void tensor::make(Element element, algstrct* ring, int dimensions, const std::int64_t* lengths, const int* symmetry,
                  const CTF::World& world, const char* text) {
    const std::vector<std::int64_t> extents(lengths, lengths + dimensions);
    set_name(text);
    sr = ring;
    hold(std::make_shared<Body>(Body{
             AnyTensor(type_of(element), arges::Storage::dense, world.body()->world, extents, symmetry_of(dimensions, symmetry), name)}),
         world);
}

void tensor::make(Element element, algstrct* ring, int dimensions, const int* lengths, const int* symmetry, const CTF::World& world,
                  const char* text) {
    make(element, ring, dimensions, std::vector<std::int64_t>(lengths, lengths + dimensions).data(), symmetry, world, text);
}

void tensor::make_like(const tensor& other, const CTF::World& world) {
    make(static_cast<Element>(of(other).element()), other.sr, other.order, other.lens, other.sym, world, other.name);
}

void tensor::make_with(const tensor& other, const int* symmetry) {
    make(static_cast<Element>(of(other).element()), other.sr, other.order, other.lens, symmetry, *other.wrld, other.name);
    auto& own = of(*this);
    auto pairs = pairs_of(of(other));
    Indices indices(own);
    pairs.keep([&](std::int64_t i) {
        indices.of(pairs.keys[i]);
        return indices.is_stored();
    });
    put_back(own, pairs);
}

void tensor::set_all(const void* value) {
    const Formula number{.sum = {{arges::number_from(value, of(*this).element())}}};
    std::string labels;
    for (int d = 0; d < order; ++d) labels.push_back(static_cast<char>(d + 1));
    assign({body_, labels}, number, std::int64_t{0}, 1);
}

void tensor::random(double low, double high, double fraction) {
    auto& own = of(*this);
    const auto seed = ++wrld->body()->fills;
    const auto type = own.element();
    const bool is_whole = type == arges::ElementType::int16 || type == arges::ElementType::int32 || type == arges::ElementType::int64;
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
    become(std::make_shared<Body>(Body{unpacked(of(source)).reshaped(lengths)}), source, nullptr);
}

void tensor::add_reshaped(const tensor& source, const void* alpha, const void* beta) {
    auto& own = of(*this);
    const auto labels = arges::all_labels(order);
    auto right = number_of(alpha, own.element()) * unpacked(of(source)).reshaped(own.extents())[labels];
    if (!own.symmetry().trivial()) right.terms()[0].projection = arges::Projection::canonical;
    own[labels].assign(right, number_of(beta, own.element()));
}

void tensor::reduce_to(CTF::OP op, void* result) const {
    const auto& own = of(*this);
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
    return which == 1 ? own.norm1() : which == 2 ? own.norm() : own.norm_max();
}

void tensor::compare_to(const tensor& other, FILE* file, double cutoff) const {
    const auto& own = of(*this);
    const auto& kernels = own.kernels();
    own.world().agree([&] { other.require_element(static_cast<Element>(own.element())); });
    Values mine(own.kernels()), others(own.kernels());
    own.gather_all(mine.room());
    of(other).gather_all(others.room());
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
    of(*this).print(text, std::max(cutoff, 0.0));
    if (wrld->rank == 0) std::fputs(text.str().c_str(), file);
    std::fflush(file);
}

}  // namespace CTF_int
