// Random statements, keys, parts and functions through ctf.hpp against loops over all elements. All numbers are small and whole, so that
// results are exact in every type. Prints the seed of what is wrong, and ends with 1 then. Arguments: how many seeds, and the first one.
#include <ctf.hpp>

using namespace CTF;

namespace {

int failures = 0;
std::uint64_t state = 1;

/// 0 <= number < n, the same on all ranks.
int draw(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return int((state >> 33) % n);
}

template <class T>
struct Number {
    static T make() { return T(draw(7) - 3); }
};
template <class R>
struct Number<std::complex<R> > {
    static std::complex<R> make() {
        R const real = R(draw(7) - 3);
        return std::complex<R>(real, R(draw(7) - 3));
    }
};

typedef std::vector<std::int64_t> Index;

/// A tensor, and all its elements on every rank.
template <class T>
struct Both {
    Tensor<T> tensor;
    std::vector<int> lens, sym;
    std::vector<T> all;

    std::int64_t key(Index const& index) const {
        std::int64_t result = 0;
        for (std::size_t d = lens.size(); d-- > 0;) result = result * lens[d] + index[d];
        return result;
    }
    Index index(std::int64_t key) const {
        Index result;
        for (std::size_t d = 0; d < lens.size(); key /= lens[d++]) result.push_back(key % lens[d]);
        return result;
    }
    /// Dimensions of the groups.
    std::vector<std::vector<int> > groups() const {
        std::vector<std::vector<int> > result;
        for (int d = 0; d < int(lens.size()); ++d) {
            if (d == 0 || sym[d - 1] == NS) result.push_back(std::vector<int>());
            result.back().push_back(d);
        }
        return result;
    }
    int kind(std::vector<int> const& group) const { return group.size() < 2 ? int(NS) : sym[group[0]]; }
    /// Sorts the index within groups. 1, -1, or 0 for an element that is zero.
    int sort(Index& index) const {
        int sign = 1;
        std::vector<std::vector<int> > const own = groups();
        for (std::size_t g = 0; g < own.size(); ++g)
            for (std::size_t a = 0; a < own[g].size(); ++a)
                for (std::size_t b = a + 1; b < own[g].size(); ++b) {
                    std::int64_t &x = index[own[g][a]], &y = index[own[g][b]];
                    if (x == y && kind(own[g]) != SY) return 0;
                    if (x <= y) continue;
                    std::swap(x, y);
                    if (kind(own[g]) == AS) sign = -sign;
                }
        return sign;
    }
    bool is_stored(Index const& index) const {
        Index sorted(index);
        return sort(sorted) != 0 && sorted == index;
    }
    /// The others follow from the stored ones.
    void spread() {
        std::vector<T> const stored(all);
        for (std::size_t k = 0; k < all.size(); ++k) {
            Index sorted = index(k);
            int const sign = sort(sorted);
            all[k] = T(sign) * (sign == 0 ? T(0) : stored[key(sorted)]);
        }
    }
    /// Tensors of one shape have the same elements on a rank, whatever was done with them.
    bool lies_as_new() const {
        std::int64_t count = 0, wanted = 0;
        T *values = 0, *zeros = 0;
        std::int64_t *keys = 0, *new_keys = 0;
        tensor.get_local_data(&count, &keys, &values);
        Tensor<T>(int(lens.size()), lens.data(), sym.data(), *tensor.wrld).get_local_data(&wanted, &new_keys, &zeros);
        bool result = count == wanted && std::equal(keys, keys + count, new_keys);
        for (std::int64_t i = 0; result && i < count; ++i) result = values[i] == all[keys[i]];
        std::free(keys);
        std::free(new_keys);
        delete[] values;
        delete[] zeros;
        return result;
    }
    bool same() const {
        std::int64_t count = 0;
        T* values = 0;
        tensor.get_all_data(&count, &values, true);
        bool result = count == std::int64_t(all.size());
        for (std::int64_t k = 0; result && k < count; ++k) result = values[k] == all[k];
        delete[] values;
        return result;
    }
    void expect(char const* what, std::uint64_t seed) const {
        bool const lies = lies_as_new();
        if (same() && lies) return;
        ++failures;
        std::printf("FAILED: %s, seed %llu\n", what, static_cast<unsigned long long>(seed));
    }
};

/// Writes each stored element from a random rank.
template <class T>
void fill(Both<T>& both, World& dw) {
    Index keys;
    std::vector<T> values;
    both.all.assign(both.tensor.get_tot_size(false), T(0));
    for (std::size_t k = 0; k < both.all.size(); ++k) {
        int const writer = draw(dw.np);
        T const value = Number<T>::make();
        if (!both.is_stored(both.index(k))) continue;
        both.all[k] = value;
        if (writer != dw.rank) continue;
        keys.push_back(k);
        values.push_back(value);
    }
    both.tensor.write(keys.size(), keys.data(), values.data());
    both.spread();
}

template <class T>
Both<T> make(std::vector<int> const& lens, bool symmetric, World& dw) {
    Both<T> result;
    result.lens = lens;
    result.sym.assign(lens.size(), NS);
    for (std::size_t d = 0; symmetric && d + 1 < lens.size(); ++d) {
        int const kind = d > 0 && result.sym[d - 1] != NS ? (draw(2) != 0 ? result.sym[d - 1] : int(NS)) : draw(4);
        if (lens[d] == lens[d + 1]) result.sym[d] = kind;
    }
    result.tensor = Tensor<T>(int(lens.size()), lens.data(), result.sym.data(), dw);
    fill(result, dw);
    return result;
}

/// A permutation of labels and its sign.
struct Exchange {
    std::map<char, char> to;
    int sign;
    char of(char label) const { return to.count(label) != 0 ? to.find(label)->second : label; }
    std::string of(std::string labels) const {
        for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = of(labels[i]);
        return labels;
    }
};

/// All permutations within groups of labels.
std::vector<Exchange> exchanges(std::vector<std::pair<std::string, int> > const& groups) {
    std::vector<Exchange> result(1);
    result[0].sign = 1;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::vector<Exchange> next;
        std::string image(groups[g].first);
        std::sort(image.begin(), image.end());
        std::string const first(image);
        do {
            int sign = 1;
            for (std::size_t a = 0; a < image.size(); ++a)
                for (std::size_t b = a + 1; b < image.size(); ++b)
                    if (image[a] > image[b] && groups[g].second == AS) sign = -sign;
            for (std::size_t e = 0; e < result.size(); ++e) {
                Exchange one(result[e]);
                for (std::size_t i = 0; i < image.size(); ++i) one.to[first[i]] = image[i];
                one.sign *= sign;
                next.push_back(one);
            }
        } while (std::next_permutation(image.begin(), image.end()));
        result.swap(next);
    }
    return result;
}

template <class T>
struct Labelled {
    Both<T>* both;
    std::string labels;
    bool has(std::string const& group, int kind) const {
        std::vector<std::vector<int> > const own = both->groups();
        for (std::size_t g = 0; g < own.size(); ++g) {
            bool whole = both->kind(own[g]) == kind;
            for (std::size_t i = 0; whole && i < group.size(); ++i) {
                bool found = false;
                for (std::size_t d = 0; d < own[g].size(); ++d) found = found || labels[own[g][d]] == group[i];
                whole = found;
            }
            if (whole) return true;
        }
        return false;
    }
    /// What the tensor takes on by a permutation of its labels: 1, -1, or 0 if it becomes another.
    int sign(Exchange const& e) const {
        int result = 1;
        std::vector<std::vector<int> > const own = both->groups();
        for (std::size_t g = 0; g < own.size(); ++g) {
            std::string before, after;
            for (std::size_t d = 0; d < own[g].size(); ++d) before.push_back(labels[own[g][d]]);
            after = e.of(before);
            if (before == after) continue;
            std::string x(before), y(after);
            std::sort(x.begin(), x.end());
            std::sort(y.begin(), y.end());
            if (x != y || both->kind(own[g]) == NS || std::unique(x.begin(), x.end()) != x.end()) return 0;
            if (both->kind(own[g]) != AS) continue;
            for (std::size_t a = 0; a < before.size(); ++a)
                for (std::size_t b = a + 1; b < before.size(); ++b)
                    if ((before[a] > before[b]) != (after[a] > after[b])) result = -result;
        }
        return result;
    }
};

/// What an elementwise product of all tensors at these values of labels is.
template <class T>
T product_at(std::vector<Labelled<T> > const& operands, std::map<char, int> const& value) {
    T result(1);
    for (std::size_t o = 0; o < operands.size(); ++o) {
        Index index;
        for (std::size_t d = 0; d < operands[o].labels.size(); ++d) index.push_back(value.find(operands[o].labels[d])->second);
        result *= operands[o].both->all[operands[o].both->key(index)];
    }
    return result;
}

/// The dense sum over all labels that the output lacks, at each index of the output.
template <class T>
std::vector<T> dense(Labelled<T> const& left, std::vector<Labelled<T> > const& operands) {
    std::string labels(left.labels);
    std::vector<int> lens(left.both->lens);
    for (std::size_t o = 0; o < operands.size(); ++o)
        for (std::size_t d = 0; d < operands[o].labels.size(); ++d)
            if (labels.find(operands[o].labels[d]) == std::string::npos) {
                labels.push_back(operands[o].labels[d]);
                lens.push_back(operands[o].both->lens[d]);
            }
    std::vector<T> result(left.both->all.size(), T(0));
    std::int64_t count = 1;
    for (std::size_t d = 0; d < lens.size(); ++d) count *= lens[d];
    for (std::int64_t i = 0; i < count; ++i) {
        std::map<char, int> value;
        std::int64_t rest = i;
        for (std::size_t d = 0; d < lens.size(); rest /= lens[d++]) value[labels[d]] = int(rest % lens[d]);
        result[i % std::int64_t(result.size())] += product_at(operands, value);
    }
    return result;
}

/// A term as the output takes it: summed over the permutations of its groups that the term does not have.
template <class T>
std::vector<T> term(Labelled<T> const& left, std::vector<Labelled<T> > const& operands) {
    std::vector<T> const R = dense(left, operands);
    std::vector<std::pair<std::string, int> > permuted;
    bool depends = false;
    for (std::size_t o = 0; o < operands.size(); ++o) depends = depends || operands[o].labels.find_first_of(left.labels) != std::string::npos;
    std::vector<std::vector<int> > const groups = left.both->groups();
    for (std::size_t g = 0; depends && g < groups.size(); ++g) {
        int const kind = left.both->kind(groups[g]);
        if (kind == NS) continue;
        std::string group;
        for (std::size_t d = 0; d < groups[g].size(); ++d) group.push_back(left.labels[groups[g][d]]);
        int meets = 0;
        bool all = true;
        for (std::size_t o = 0; o < operands.size(); ++o) {
            if (operands[o].labels.find_first_of(group) == std::string::npos) continue;
            ++meets;
            all = all && operands[o].has(group, kind);
        }
        if (!(kind == AS && all && meets % 2 == 0)) permuted.push_back(std::make_pair(group, kind));
    }
    std::vector<Exchange> const all = exchanges(permuted);
    int kept = 0;
    for (std::size_t e = 0; e < all.size(); ++e) {
        int sign = 1;
        for (std::size_t o = 0; o < operands.size(); ++o) sign *= operands[o].sign(all[e]);
        if (sign == all[e].sign) ++kept;
    }
    std::vector<T> result(R.size(), T(0));
    for (std::size_t k = 0; k < R.size(); ++k) {
        Index const index = left.both->index(k);
        for (std::size_t e = 0; e < all.size(); ++e) {
            Index there(index);
            for (std::size_t d = 0; d < index.size(); ++d) there[d] = index[left.labels.find(all[e].of(left.labels[d]))];
            result[k] += T(all[e].sign) * R[left.both->key(there)];
        }
        result[k] = result[k] / T(kept);
    }
    return result;
}

std::string some_labels(int order, bool repeats) {
    static char const letters[] = "ijkab`";
    std::string result;
    while (int(result.size()) < order) {
        char const label = letters[draw(6)];
        if (repeats || result.find(label) == std::string::npos) result.push_back(label);
    }
    return result;
}

template <class T>
void statements(World& dw, std::uint64_t seed) {
    state = seed;
    int const n = 2 + draw(2);
    bool const symmetric = draw(4) != 0;
    std::vector<Both<T> > tensors;
    int const terms = 1 + draw(2);
    std::string const labels = some_labels(draw(5), false);
    Both<T> C = make<T>(std::vector<int>(labels.size(), n), symmetric, dw);
    Labelled<T> const left = {&C, labels};
    std::vector<std::vector<Labelled<T> > > sum(terms);
    tensors.reserve(6);
    for (int t = 0; t < terms; ++t) {
        int const operands = 1 + draw(3);
        for (int o = 0; o < operands; ++o) {
            int const order = draw(operands == 3 ? 3 : 4);
            tensors.push_back(make<T>(std::vector<int>(order, n), draw(4) != 0, dw));
            Labelled<T> const one = {&tensors.back(), some_labels(order, draw(8) == 0)};
            sum[t].push_back(one);
        }
    }
    T const factor = Number<T>::make();
    int const beta = draw(4) - 1;
    std::vector<T> result(C.all.size(), T(0));
    std::vector<Term> right;
    for (int t = 0; t < terms; ++t) {
        std::vector<T> const values = term(left, sum[t]);
        for (std::size_t k = 0; k < values.size(); ++k) result[k] += values[k] * (t == 0 ? factor : T(1));
        Term expression = sum[t][0].both->tensor[sum[t][0].labels.c_str()];
        if (t == 0) {
            Term const scaled = factor * expression;
            right.push_back(scaled);
        } else {
            right.push_back(expression);
        }
        for (std::size_t o = 1; o < sum[t].size(); ++o) {
            Term const next = right.back() * sum[t][o].both->tensor[sum[t][o].labels.c_str()];
            right.pop_back();
            right.push_back(next);
        }
    }
    Term const whole = terms == 1 ? right[0] : right[0] + right[1];
    int const how = draw(4);
    if (how == 0) C.tensor[labels.c_str()] = whole;
    if (how == 1) C.tensor[labels.c_str()] += whole;
    if (how == 2) C.tensor[labels.c_str()] -= whole;
    if (how == 3) beta * C.tensor[labels.c_str()] += whole;
    for (std::size_t k = 0; k < result.size(); ++k)
        C.all[k] = (how == 0 ? T(0) : how == 3 ? T(beta) * C.all[k] : C.all[k]) + (how == 2 ? -result[k] : result[k]);
    C.spread();
    C.expect("a statement", seed);
}

/// Keys several times and from several ranks, then replaced or by factors.
template <class T>
void keys(World& dw, std::uint64_t seed) {
    state = seed;
    Both<T> A = make<T>(std::vector<int>(1 + draw(4), 1 + draw(4)), draw(3) != 0, dw);
    T const alpha = Number<T>::make(), beta = Number<T>::make();
    bool const plain = draw(2) == 0;
    std::vector<T> sum(A.all.size(), T(0));
    std::vector<bool> given(A.all.size(), false);
    Index own;
    std::vector<T> values;
    for (int i = draw(40); i > 0; --i) {
        int const writer = draw(dw.np);
        std::int64_t const key = draw(int(A.all.size()));
        T const value = Number<T>::make();
        if (writer == dw.rank) {
            own.push_back(key);
            values.push_back(value);
        }
        Index sorted = A.index(key);
        int const sign = A.sort(sorted);
        if (sign == 0) continue;
        sum[A.key(sorted)] += T(sign) * value;
        given[A.key(sorted)] = true;
    }
    if (plain)
        A.tensor.write(own.size(), own.data(), values.data());
    else
        A.tensor.write(own.size(), alpha, beta, own.data(), values.data());
    for (std::size_t k = 0; k < sum.size(); ++k)
        if (given[k]) A.all[k] = plain ? sum[k] : alpha * sum[k] + beta * A.all[k];
    A.spread();
    A.expect("keys", seed);
    std::vector<T> got(values);
    A.tensor.read(own.size(), alpha, beta, own.data(), got.data());
    bool right = true;
    for (std::size_t i = 0; i < own.size(); ++i) right = right && got[i] == alpha * A.all[own[i]] + beta * values[i];
    std::int64_t count = 0, all = 0, *local = 0;
    T* elements = 0;
    A.tensor.get_local_data(&count, &local, &elements, false, seed % 2 == 0);
    for (std::int64_t i = 0; i < count; ++i) right = right && elements[i] == A.all[local[i]];
    MPI_Allreduce(&count, &all, 1, MPI_INT64_T, MPI_SUM, dw.comm);
    right = right && all == A.tensor.get_tot_size(seed % 2 != 0);
    std::free(local);
    delete[] elements;
    if (!right) {
        ++failures;
        std::printf("FAILED: reads, seed %llu\n", static_cast<unsigned long long>(seed));
    }
}

/// Slices out and in, permutations, and tensors of other worlds.
template <class T>
void parts(World& dw, World& half, bool is_first, std::uint64_t seed) {
    state = seed;
    int const order = 1 + draw(3);
    std::vector<int> lens, begin, end, there;
    for (int d = 0; d < order; ++d) {
        lens.push_back(2 + draw(4));
        begin.push_back(draw(lens[d]));
        end.push_back(begin[d] + 1 + draw(lens[d] - begin[d]));
        there.push_back(draw(3));
    }
    Both<T> A = make<T>(lens, draw(2) == 0, dw);
    T const alpha = Number<T>::make(), beta = Number<T>::make();
    std::vector<int> part_lens, whole_lens, there_end;
    for (int d = 0; d < order; ++d) {
        part_lens.push_back(end[d] - begin[d]);
        whole_lens.push_back(there[d] + part_lens[d] + draw(2));
        there_end.push_back(there[d] + part_lens[d]);
    }
    Both<T> part, whole = make<T>(whole_lens, false, dw);
    part.lens = part_lens;
    part.sym.assign(order, NS);
    bool const other_world = draw(2) == 0;
    part.tensor = other_world ? A.tensor.slice(begin.data(), end.data(), &half) : A.tensor.slice(begin.data(), end.data());
    part.all.assign(part.tensor.get_tot_size(false), T(0));
    for (std::size_t k = 0; k < part.all.size(); ++k) {
        Index from = part.index(k), to(from);
        for (int d = 0; d < order; ++d) {
            from[d] += begin[d];
            to[d] += there[d];
        }
        part.all[k] = A.all[A.key(from)];
        whole.all[whole.key(to)] = beta * whole.all[whole.key(to)] + alpha * part.all[k];
    }
    part.expect("a slice", seed);
    whole.tensor.slice(there.data(), there_end.data(), beta, A.tensor, begin.data(), end.data(), alpha);
    whole.expect("a slice into a tensor", seed);

    std::vector<std::vector<int> > rows(order);
    std::vector<int*> pointers;
    for (int d = 0; d < order; ++d) {
        for (int i = 0; i < lens[d]; ++i) rows[d].push_back(i);
        for (int i = lens[d] - 1; i > 0; --i) std::swap(rows[d][i], rows[d][draw(i + 1)]);
        if (draw(4) == 0) rows[d][draw(lens[d])] = -1;
        pointers.push_back(draw(5) == 0 ? 0 : rows[d].data());
    }
    Both<T> into = make<T>(lens, false, dw), out = make<T>(lens, false, dw);
    for (std::size_t k = 0; k < A.all.size(); ++k) {
        Index index = A.index(k);
        bool stays = true;
        for (int d = 0; d < order; ++d) {
            if (pointers[d] != 0) index[d] = rows[d][index[d]];
            stays = stays && index[d] >= 0;
        }
        if (!stays) continue;
        into.all[into.key(index)] = beta * into.all[into.key(index)] + alpha * A.all[k];
        out.all[k] = beta * out.all[k] + alpha * A.all[A.key(index)];
    }
    into.tensor.permute(beta, A.tensor, pointers.data(), alpha);
    into.expect("permute(beta, A, p, alpha)", seed);
    out.tensor.permute(pointers.data(), beta, A.tensor, alpha);
    out.expect("permute(p, beta, A, alpha)", seed);

    Both<T> inner(A);  // the ranks of both halves draw the same numbers
    inner.tensor = Tensor<T>(order, lens.data(), A.sym.data(), half);
    fill(inner, half);
    bool const both = draw(2) == 0;
    A.tensor.add_to_subworld(both || is_first ? &inner.tensor : 0, alpha, beta);
    std::vector<T> const old(inner.all);
    for (std::size_t k = 0; k < old.size(); ++k) inner.all[k] = alpha * A.all[k] + beta * old[k];
    if (both || is_first) inner.expect("add_to_subworld", seed);
    A.tensor.add_from_subworld(is_first ? &inner.tensor : 0, beta, alpha);
    for (std::size_t k = 0; k < A.all.size(); ++k) A.all[k] = beta * inner.all[k] + alpha * A.all[k];
    A.expect("add_from_subworld", seed);
}

template <class T>
T shifted(T a) {
    return a * a + T(1);
}
template <class T>
T mixed(T a, T b) {
    return a * b + a;
}
template <class T>
void add_product(T a, T& b) {
    b += a * b;
}

template <class T>
void functions(World& dw, std::uint64_t seed) {
    state = seed;
    int const n = 2 + draw(3), order = 1 + draw(3);
    std::string labels = some_labels(order, false), turned(labels);
    std::vector<int> const lens(order, n);
    Both<T> A = make<T>(lens, true, dw), x = make<T>(std::vector<int>(1, n), false, dw);
    Both<T> C = draw(2) == 0 ? make<T>(lens, false, dw) : A, values = make<T>(lens, false, dw);
    bool const adds = draw(2) == 0, same = C.sym == A.sym;
    if (!same) std::swap(turned[0], turned[order - 1]);
    int const place = draw(order);
    std::string const at = labels.substr(place, 1);
    for (std::size_t k = 0; k < C.all.size(); ++k) {
        Index index = values.index(k);
        T const b = x.all[index[place]];
        if (!same) std::swap(index[0], index[order - 1]);
        values.all[k] = seed % 2 == 0 || same ? shifted(A.all[A.key(index)]) : mixed(A.all[A.key(index)], b);
    }
    for (std::size_t k = 0; k < C.all.size(); ++k) C.all[k] = adds ? C.all[k] + values.all[k] : values.all[k];
    C.spread();
    Term const f = seed % 2 == 0 || same ? Function<T>(shifted<T>)(A.tensor[turned.c_str()])
                                         : Function<T>(mixed<T>)(A.tensor[turned.c_str()], x.tensor[at.c_str()]);
    if (adds)
        C.tensor[labels.c_str()] += f;
    else
        C.tensor[labels.c_str()] = f;
    C.expect("a function", seed);

    Transform<T>(add_product<T>)(x.tensor[at.c_str()], A.tensor[labels.c_str()]);
    for (std::size_t k = 0; k < A.all.size(); ++k) add_product(x.all[A.index(k)[place]], A.all[k]);
    A.spread();
    A.expect("a transform", seed);

    Both<T> S = make<T>(lens, true, dw);
    Labelled<T> const left = {&S, labels};
    fill(values, dw);
    Both<T> squares(values);
    for (std::size_t k = 0; k < squares.all.size(); ++k) squares.all[k] = shifted(values.all[k]);
    Labelled<T> const square = {&squares, labels};
    S.tensor[labels.c_str()] = Function<T>(shifted<T>)(values.tensor[labels.c_str()]);
    S.all = term(left, std::vector<Labelled<T> >(1, square));
    S.spread();
    S.expect("a function into a symmetric tensor", seed);
}

template <class T>
void all(World& dw, World& half, bool is_first, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        statements<T>(dw, seed);
        keys<T>(dw, seed);
        parts<T>(dw, half, is_first, seed);
        functions<T>(dw, seed);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int sum = 0;
    {
        World dw(argc, argv);
        std::uint64_t const count = argc > 1 ? std::strtoull(argv[1], 0, 10) : 20, seed = argc > 2 ? std::strtoull(argv[2], 0, 10) : 1;
        bool const is_first = dw.rank < (dw.np + 1) / 2;
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, is_first ? 0 : 1, dw.rank, &comm);
        {
            World half(comm);
            all<double>(dw, half, is_first, seed, count);
            all<int>(dw, half, is_first, seed + 1000, count);
            all<float>(dw, half, is_first, seed + 2000, count);
            all<std::complex<double> >(dw, half, is_first, seed + 3000, count);
        }
        MPI_Comm_free(&comm);
        MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (dw.rank == 0) std::printf(sum == 0 ? "passed\n" : "%d failures\n", sum);
    }
    MPI_Finalize();
    return sum == 0 ? 0 : 1;
}
