// A C++11 program against ctf.hpp: random statements, functions, slices and files of dense and sparse tensors under several algebras, each
// compared with loops over all elements. Prints what is wrong, and ends with 1 then.
#include <ctf.hpp>

using namespace CTF;

namespace {

int failures = 0;

void expect(bool right, std::string const& what) {
    if (right) return;
    if (++failures < 20) std::printf("FAILED: %s\n", what.c_str());
}

/// The same numbers on every rank.
struct Numbers {
    std::uint64_t state;
    int below(int n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((state >> 33) % n);
    }
};

/// A way: how long, in how many ways, and a field that makes the struct larger than what the library has.
struct Way {
    int length, number;
    double weight;
    bool operator==(Way const& other) const { return length == other.length && number == other.number && weight == other.weight; }
};

template <class T>
struct Plus {
    static T zero() { return T(0); }
    static T random(Numbers& numbers) { return T(numbers.below(9) - 4); }
    static T add(T a, T b) { return a + b; }
    static T multiply(T a, T b) { return a * b; }
    static Ring<T> algebra() { return Ring<T>(); }
};
struct MinPlus {
    static int zero() { return 1 << 28; }
    static int random(Numbers& numbers) { return numbers.below(20) - 3; }
    static int add(int a, int b) { return std::min(a, b); }
    static int multiply(int a, int b) { return a == zero() || b == zero() ? zero() : a + b; }
    static Semiring<int> algebra() { return Semiring<int>(zero(), &add, MPI_MIN, 0, &multiply); }
};
struct MaxTimes {
    static double zero() { return 0; }
    static double random(Numbers& numbers) { return 1 + numbers.below(4); }
    static double add(double a, double b) { return std::max(a, b); }
    static double multiply(double a, double b) { return a * b; }
    static Semiring<double> algebra() { return Semiring<double>(0, &add, MPI_MAX, 1, &multiply); }
};
struct Ways {
    static Way way(int length, int number, double weight) {
        Way const result = {length, number, weight};
        return result;
    }
    static Way zero() { return way(1 << 28, 0, 0); }
    static Way random(Numbers& numbers) { return way(numbers.below(9), 1 + numbers.below(2), numbers.below(5)); }
    static Way add(Way a, Way b) {
        if (a.length != b.length) return a.length < b.length ? a : b;
        return way(a.length, a.number + b.number, std::max(a.weight, b.weight));
    }
    static Way multiply(Way a, Way b) {
        if (a == zero() || b == zero()) return zero();
        return way(a.length + b.length, a.number * b.number, a.weight + b.weight);
    }
    static Semiring<Way> algebra() { return Semiring<Way>(zero(), &add, MPI_OP_NULL, way(0, 1, 0), &multiply); }
};

/// All elements of a tensor, the first index fastest.
template <class T>
struct Reference {
    std::vector<int> lens;
    std::vector<T> values;
    T& at(std::string const& labels, std::map<char, int> const& index) {
        std::size_t key = 0;
        for (std::size_t d = lens.size(); d-- > 0;) key = key * lens[d] + index.at(labels[d]);
        return values[key];
    }
};

/// Lengths of the labels a, b, c and d.
int const lengths[] = {3, 4, 2, 5};

/// A tensor of random elements, of which most are zero where it is sparse.
template <class A, class T>
struct Case {
    Numbers numbers;
    World& dw;
    explicit Case(World& world, int seed) : dw(world) { numbers.state = seed; }

    std::string labels(int order) {
        std::string result;
        for (int d = 0; d < order; ++d) result.push_back(static_cast<char>('a' + numbers.below(4)));
        return result;
    }
    std::vector<int> lens(std::string const& names) {
        std::vector<int> result;
        for (std::size_t d = 0; d < names.size(); ++d) result.push_back(lengths[names[d] - 'a']);
        return result;
    }
    Tensor<T> tensor(std::string const& names, bool sparse, Reference<T>& reference) {
        reference.lens = lens(names);
        std::int64_t size = 1;
        for (int n : reference.lens) size *= n;
        Tensor<T> result(int(names.size()), sparse && !names.empty(), reference.lens.data(), dw, A::algebra());
        reference.values.assign(size, A::zero());
        std::vector<std::int64_t> keys;
        std::vector<T> values;
        for (std::int64_t key = 0; key < size; ++key) {
            if (sparse && numbers.below(3) > 0) continue;
            reference.values[key] = A::random(numbers);
            if (numbers.below(dw.np) != dw.rank) continue;
            keys.push_back(key);
            values.push_back(reference.values[key]);
        }
        result.write(keys.size(), keys.data(), values.data());
        return result;
    }
    void compare(Tensor<T> const& found, Reference<T> const& wanted, std::string const& what) {
        std::vector<T> all(wanted.values.size());
        std::int64_t const count = found.read_all(all.data());
        expect(count == std::int64_t(all.size()), what + ": size");
        for (std::size_t i = 0; i < all.size(); ++i)
            if (!(all[i] == wanted.values[i])) return expect(false, what + ": element " + std::to_string(i));
        std::vector<std::int64_t> keys;
        for (std::size_t i = dw.rank; i < all.size(); i += 2) keys.push_back(i);
        std::vector<T> some(keys.size());
        found.read(keys.size(), keys.data(), some.data());
        for (std::size_t i = 0; i < keys.size(); ++i) expect(some[i] == wanted.values[keys[i]], what + ": read");
    }
    /// Calls f for all values of some labels.
    template <class F>
    void for_each(std::string const& names, F const& f) {
        std::map<char, int> index;
        each(names, 0, index, f);
    }
    template <class F>
    void each(std::string const& names, std::size_t d, std::map<char, int>& index, F const& f) {
        if (d == names.size()) return f(index);
        for (int i = 0; i < lengths[names[d] - 'a']; ++i) {
            index[names[d]] = i;
            each(names, d + 1, index, f);
        }
    }
    static std::string distinct(std::string const& names) {
        std::set<char> const all(names.begin(), names.end());
        return std::string(all.begin(), all.end());
    }

    /// A product of one to three tensors, the first of which may be a sum of two, into one.
    void statement() {
        int const count = 1 + numbers.below(3);
        bool const adds = numbers.below(2) == 0;
        std::vector<std::string> names;
        std::vector<Reference<T> > references(count);
        std::vector<Tensor<T> > operands;
        std::string text, all;
        bool any_dense = false;
        for (int o = 0; o < count; ++o) {
            names.push_back(labels(1 + numbers.below(3)));
            bool const sparse = numbers.below(2) == 0;
            any_dense = any_dense || !sparse;
            operands.push_back(tensor(names[o], sparse, references[o]));
            text += (o > 0 ? " * " : "") + std::string(sparse ? "sparse " : "") + names[o];
            all += names[o];
        }
        bool const is_sum = numbers.below(3) == 0;
        Reference<T> summand;
        bool const sparse_summand = numbers.below(3) == 0;
        Tensor<T> D = tensor(names[0], sparse_summand, summand);
        if (is_sum) {
            text = "(" + std::string(sparse_summand ? "sparse + " : "dense + ") + text + ")";
            for (std::size_t i = 0; i < summand.values.size(); ++i) summand.values[i] = A::add(summand.values[i], references[0].values[i]);
            references[0] = summand;
        }
        std::string const left = numbers.below(2) == 0 ? labels(numbers.below(4)) : distinct(all).substr(0, numbers.below(4));
        bool const sparse = numbers.below(2) == 0;
        Reference<T> reference;
        Tensor<T> C = tensor(left, sparse, reference);
        text = std::string(sparse ? "sparse " : "") + left + (adds ? " += " : " = ") + text;
        Reference<T> sum = reference;
        std::string const kept = distinct(left);
        for_each(kept, [&](std::map<char, int> const& index) { sum.at(left, index) = A::zero(); });
        for_each(distinct(left + all), [&](std::map<char, int> const& index) {
            T product = references[0].at(names[0], index);
            for (int o = 1; o < count; ++o) product = A::multiply(product, references[o].at(names[o], index));
            sum.at(left, index) = A::add(sum.at(left, index), product);
        });
        for_each(kept, [&](std::map<char, int> const& index) {
            T const old = reference.at(left, index), added = sum.at(left, index);
            reference.at(left, index) = adds ? A::add(old, added) : added;
        });
        std::vector<CTF_int::Term> terms;
        for (int o = 0; o < count; ++o) {
            CTF_int::Term const term = operands[o][names[o].c_str()];
            terms.push_back(is_sum && o == 0 ? term + D[names[0].c_str()] : term);
        }
        CTF_int::Term const right = count == 1 ? terms[0] : count == 2 ? terms[0] * terms[1] : terms[0] * terms[1] * terms[2];
        if (adds)
            C[left.c_str()] += right;
        else
            C[left.c_str()] = right;
        compare(C, reference, text);
    }

    /// A function of one or two tensors, and a transform.
    void functions() {
        Reference<T> a, b, c, given;
        std::string const all = "abc", names_a = all.substr(0, 1 + numbers.below(2)), names_b = numbers.below(2) == 0 ? "bc" : "ba";
        bool const sparse_a = numbers.below(2) == 0, sparse_b = numbers.below(2) == 0, sparse_c = numbers.below(2) == 0;
        Tensor<T> X = tensor(names_a, sparse_a, a), Y = tensor(names_b, sparse_b, b), C = tensor("ab", sparse_c, c);
        std::string const text = std::string(sparse_a ? "sparse " : "") + names_a + ", " + (sparse_b ? "sparse " : "") + names_b + ", " +
                                 (sparse_c ? "sparse" : "dense") + " output";
        given = c;
        Bivar_Function<T, T, T> f([](T x, T y) { return A::multiply(A::multiply(x, y), y); });
        f.intersect_only = true;
        Reference<T> sum = c;
        sum.values.assign(c.values.size(), A::zero());
        for_each(distinct("ab" + names_a + names_b), [&](std::map<char, int> const& index) {
            T const y = b.at(names_b, index);
            T& element = sum.at("ab", index);
            element = A::add(element, A::multiply(A::multiply(a.at(names_a, index), y), y));
        });
        C["ab"] += f(X[names_a.c_str()], Y[names_b.c_str()]);
        for (std::size_t i = 0; i < c.values.size(); ++i) c.values[i] = A::add(c.values[i], sum.values[i]);
        compare(C, c, "f of " + text);
        Transform<T>([](T& x) { x = A::multiply(x, x); })(Y[names_b.c_str()]);
        for (T& x : b.values) x = A::multiply(x, x);
        compare(Y, b, "transform of " + text);
        Tensor<T> kept(C);
        kept.sparsify([](T x) { return !(x == A::zero()); });
        std::int64_t count = 0;
        for (T const& x : c.values) count += x == A::zero() ? 0 : 1;
        expect(kept.is_sparse && kept.nnz_tot == count, "sparsify of " + text);
        compare(kept, c, "sparsify of " + text);
        int const begin[] = {1, 1}, end[] = {3, 3}, zero[] = {0, 0}, size[] = {2, 2};
        Tensor<T> part = kept.slice(begin, end);
        Reference<T> wanted;
        wanted.lens.assign(2, 2);
        for (int j = 1; j < 3; ++j)
            for (int i = 1; i < 3; ++i) wanted.values.push_back(c.values[i + 3 * j]);
        compare(part, wanted, "slice of " + text);
        T const one = *reinterpret_cast<T const*>(C.sr->mulid());
        C.slice(begin, end, A::zero(), part, zero, size, one);
        compare(C, c, "slice into " + text);
    }
};

template <class A, class T>
void all_of(World& dw, int seed) {
    Case<A, T> random(dw, seed);
    for (int i = 0; i < 40; ++i) random.statement();
    for (int i = 0; i < 15; ++i) random.functions();
}

int const far = 1 << 28;

/// The same elements of a matrix in a tensor and in an array, by a formula: far or -far where none is written.
struct Square {
    Tensor<int> tensor;
    std::vector<int> all;
    int n;
    Square(int length, bool symmetric, bool sparse, int nothing, World& dw, CTF_int::algstrct const& algebra, int (*formula)(int, int))
        : all(length * length, nothing), n(length) {
        int const lens[] = {n, n}, sym[] = {symmetric ? SY : NS, NS};
        tensor = Tensor<int>(2, sparse, lens, sym, dw, algebra);
        std::vector<std::int64_t> keys;
        std::vector<int> values;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                int const low = std::min(i, j), high = std::max(i, j);
                if ((i > j && symmetric) || (sparse && (low + 2 * high) % 3 == 0) || formula == nullptr) continue;
                keys.push_back(i + n * j);
                values.push_back(formula(i, j));
                at(i, j) = values.back();
                if (symmetric) at(j, i) = values.back();
            }
        tensor.write(dw.rank == 0 ? keys.size() : 0, keys.data(), values.data());
    }
    int& at(int i, int j) { return all[i + n * j]; }
    void expect_all(std::string const& what) {
        std::vector<int> found(all.size());
        tensor.read_all(found.data());
        expect(found == all, what);
    }
};

int first_formula(int i, int j) { return i - 2 * j; }
int second_formula(int i, int j) { return i * j + 1; }

/// Functions and products between tensors whose algebras have elements of the same size and other zeros.
void two_algebras(World& dw, int n, bool symmetric, bool sparse_x, bool sparse_y, bool sparse_out) {
    Semiring<int> const nearest(far, &MinPlus::add, MPI_MIN, 0, &MinPlus::multiply);
    Semiring<int> const furthest(-far, [](int a, int b) { return std::max(a, b); }, MPI_MAX, 0, [](int a, int b) { return a + b; });
    std::string const text = std::to_string(n) + (symmetric ? " symmetric" : "") + (sparse_x ? ", sparse" : "") +
                             (sparse_y ? ", second sparse" : "") + (sparse_out ? ", sparse output" : "");
    Square x(n, symmetric, sparse_x, far, dw, nearest, first_formula), y(n, false, sparse_y, far, dw, nearest, second_formula);
    Square c(n, false, sparse_out, -far, dw, furthest, nullptr), d(c), plain(n, false, sparse_out, 0, dw, Ring<int>(), nullptr);
    Bivar_Function<int, int, int> f([](int a, int b) { return a == far || b == far ? -far : 3 * a - b; });
    Univar_Function<int, int> g([](int a) { return a == far ? -far : 2 * a + 1; });
    f.intersect_only = g.intersect_only = true;
    c.tensor["ij"] += f(x.tensor["ik"], y.tensor["kj"]);
    d.tensor["ij"] = g(x.tensor["ji"]);
    plain.tensor["ij"] += g(x.tensor["ji"]);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            int const element = x.at(j, i);
            if (element < far) plain.at(i, j) = d.at(i, j) = 2 * element + 1;
            for (int k = 0; k < n; ++k)
                if (x.at(i, k) < far && y.at(k, j) < far) c.at(i, j) = std::max(c.at(i, j), 3 * x.at(i, k) - y.at(k, j));
        }
    c.expect_all("a function of two, " + text);
    d.expect_all("a function of one, " + text);
    plain.expect_all("into plain numbers, " + text);
    Transform<int, int>([](int a, int& b) { b = a - b; })(x.tensor["ij"], plain.tensor["ij"]);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (x.at(i, j) < far && (x.at(j, i) < far || !sparse_out)) plain.at(i, j) = x.at(i, j) - plain.at(i, j);
    plain.expect_all("a transform, " + text);
    if (sparse_x || sparse_y) return;
    c.tensor["ij"] = x.tensor["ik"] * y.tensor["kj"];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            c.at(i, j) = -far;
            for (int k = 0; k < n; ++k) c.at(i, j) = std::max(c.at(i, j), x.at(i, k) + y.at(k, j));
        }
    c.expect_all("a product, " + text);
}

/// What the algebra does not say: numbers, files, sums of duplicates, groups of structs.
struct Force {
    double x, y;
    Force operator+(Force const& other) const { return make(x + other.x, y + other.y); }
    Force operator-() const { return make(-x, -y); }
    static Force make(double x, double y) {
        Force const result = {x, y};
        return result;
    }
};

void others(World& dw) {
    Matrix<Force> F(4, 4, AS, dw, Group<Force>()), G(4, 4, AS | SP, dw, Group<Force>());
    std::int64_t const key = 4;  // (0, 1)
    Force const force = Force::make(1, 2);
    F.write(dw.rank == 0 ? 1 : 0, &key, &force);
    G["ij"] += F["ij"];
    G["ij"] += F["ij"];
    G.addinv();
    Force read[2];
    std::int64_t const keys[] = {4, 1};
    G.read(2, keys, read);
    expect(read[0].x == -2 && read[0].y == -4 && read[1].x == 2, "antisymmetric structs");
    Vector<double> v(4, dw);
    Transform<Force, double>([](Force f, double& x) { x += f.x; })(F["ij"], v["i"]);
    double values[4];
    v.read_all(values);
    expect(values[0] == 1 && values[1] == -1 && values[2] == 0, "a transform by elements of more labels");

    Matrix<double> S(5, 7, SP, dw), T(5, 7, SP, dw);
    S.fill_sp_random(-1, 1, .4);
    expect(S.nnz_tot > 0 && S.nnz_tot <= 14, "random elements of a sparse matrix");
    S.write_sparse_to_file("ctf_sparse_test.txt");
    T.read_sparse_from_file("ctf_sparse_test.txt");
    MPI_Barrier(dw.comm);
    if (dw.rank == 0) std::remove("ctf_sparse_test.txt");
    T["ij"] -= S["ij"];
    expect(S.norm2() > 0 && T.norm2() == 0, "text files");
    S["ij"] = 2.0;
    S["ij"] -= 1.0;
    double const sum = S["ij"];
    expect(S.nnz_tot == 35 && sum == 35, "numbers into a sparse matrix");
    S.set_zero();
    expect(S.nnz_tot == 0, "set_zero");
    for (int aux_first = 0; aux_first < 2; ++aux_first) {
        int const lens[] = {3, 4, 2}, modes[] = {0, 2};
        Tensor<double> X(3, aux_first == 0, lens, dw), Y(3, lens, dw), Z(3, lens, dw);
        X.fill_random(-1, 1);
        Y["ijk"] = X["ijk"];
        Matrix<double> A(3, 5, dw), B(4, 5, dw), C(2, 5, dw), D(4, 5, dw);
        A.fill_random(-1, 1);
        C.fill_random(-1, 1);
        Matrix<double> At(5, 3, dw), Bt(5, 4, dw), Ct(5, 2, dw);
        At["ri"] = A["ir"];
        Ct["rk"] = C["kr"];
        Tensor<double>*all[] = {&A, &B, &C}, *transposed[] = {&At, &Bt, &Ct}, *two[] = {&A, &C}, *two_transposed[] = {&At, &Ct};
        MTTKRP(&X, aux_first != 0 ? transposed : all, 1, aux_first != 0);
        D["jr"] = Y["ijk"] * A["ir"] * C["kr"];
        D["jr"] -= aux_first != 0 ? Bt["rj"] : B["jr"];
        expect(D.norm2() < 1e-12, "MTTKRP");
        TTTP(&X, 2, modes, aux_first != 0 ? two_transposed : two, aux_first != 0);
        Matrix<double> AC(3, 2, dw);
        AC["ik"] = A["ir"] * C["kr"];
        Z["ijk"] = Y["ijk"] * AC["ik"];
        Z["ijk"] -= X["ijk"];
        expect(Z.norm2() < 1e-12 && X.norm2() > 0, "TTTP");
    }
    double numbers[3];
    arange<double>(2, 3, 0.5, dw).read_all(numbers);
    expect(numbers[0] == 2 && numbers[1] == 2.5 && numbers[2] == 3, "arange");
    Matrix<int> M(3, 3, dw, MinPlus::algebra());
    std::int64_t const same[] = {2, 2};
    int const two[] = {7, 5};
    M.write(dw.rank == 0 ? 2 : 0, same, two);
    int least = 0;
    M.read(1, same, &least);
    expect(least == 5, "values for one element are added as the algebra adds");
    // A function that throws where one element is, on one rank.
    Matrix<double> one(4, 4, SP, dw), to(4, 4, SP, dw);
    std::int64_t const place = 6;
    double const seven = 7;
    one.write(dw.rank == 0 ? 1 : 0, &place, &seven);
    int caught = 0;
    Function<double> const f([](double x) -> double { throw std::invalid_argument("no " + std::to_string(x)); });
    Bivar_Function<double> const g([](double, double) -> double { throw std::invalid_argument("none"); });
    Transform<double> const h([](double&) { throw std::invalid_argument("none"); });
    Transform<double, double> const k([](double, double&) { throw std::invalid_argument("none"); });
    for (int i = 0; i < 5; ++i) try {
            if (i == 0) to["ij"] = f(one["ij"]);
            if (i == 1) to["ij"] = f(one["ji"]);
            if (i == 2) to["ij"] += g(one["ik"], one["jk"]);
            if (i == 3) h(one["ij"]);
            if (i == 4) k(one["ij"], one["ij"]);
        } catch (std::exception const&) {
            ++caught;
        }
    expect(caught == 5, "functions that throw on one rank: " + std::to_string(caught));
    bool thrown = false;
    try {
        Matrix<Way> A(3, 3, dw, Monoid<Way>(Ways::zero(), &Ways::add)), B(A);
        A["ij"] = A["ik"] * B["kj"];
    } catch (std::exception const&) {
        thrown = true;
    }
    expect(thrown, "a product of elements that have none");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int all = 0;
    {
        World dw(argc, argv);
        all_of<Plus<double>, double>(dw, 1);
        all_of<Plus<int>, int>(dw, 2);
        all_of<Plus<unsigned char>, unsigned char>(dw, 3);
        all_of<MinPlus, int>(dw, 4);
        all_of<MaxTimes, double>(dw, 5);
        all_of<Ways, Way>(dw, 6);
        for (int i = 0; i < 32; ++i) two_algebras(dw, 3 + i % 2, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0, (i & 16) != 0);
        others(dw);
        MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (dw.rank == 0) std::printf(all == 0 ? "passed\n" : "%d failures\n", all);
    }
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
