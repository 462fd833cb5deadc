#include "io/file/element_text.hpp"

#include "arges/error.hpp"
#include "base/related_value.hpp"

#include <complex>

namespace arges::io {

namespace {

template <class V>
bool usual_value(const char*& at, const char* end, V& value) {
    if constexpr (!std::is_integral_v<V>) return fast_value(at, end, value);
    const auto [behind, code] = std::from_chars(at, end, value);
    if (code != std::errc() || !(is_blank(*behind) || *behind == '\n')) return false;
    at = behind;
    return true;
}

/// The numbers that stand in a file for elements of a type.
template <class T>
using NumberOf = std::conditional_t<std::is_same_v<T, bool>, double, real_of<T>>;

template <class T>
void set_number(NumberOf<T> value, std::size_t number, void* element) {
    auto& to = *static_cast<T*>(element);
    if constexpr (std::is_same_v<T, real_of<T>>)
        to = static_cast<T>(value);
    else
        to = number == 0 ? T(value) : T(to.real(), value);
}

template <class V>
void append_shortest(std::string& text, V value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text.append(digits, end);
}

template <class T>
constexpr ElementText text_of{element_type_of<T>(),
                              [](const char*& at, const char* end, std::size_t number, void* element) {
                                  NumberOf<T> value;
                                  if (!usual_value(at, end, value)) return false;
                                  set_number<T>(value, number, element);
                                  return true;
                              },
                              [](std::string_view word, std::size_t number, void* element) {
                                  NumberOf<T> value{};
                                  const auto kind = careful_value(word, value);
                                  set_number<T>(value, number, element);
                                  return kind;
                              },
                              [](std::string& text, const void* element) {
                                  const auto& value = *static_cast<const T*>(element);
                                  if constexpr (!std::is_same_v<T, real_of<T>>) {
                                      append_shortest(text, value.real());
                                      text += ' ';
                                      append_shortest(text, value.imag());
                                  } else if constexpr (std::is_same_v<T, bool>) {
                                      text += value ? '1' : '0';
                                  } else {
                                      append_shortest(text, value);
                                  }
                              },
                              [](std::uint8_t factor, void* element) {
                                  if constexpr (!std::is_same_v<T, bool>)
                                      *static_cast<T*>(element) = related_value(factor, *static_cast<T*>(element));
                              }};

}  // namespace

const ElementText& element_text(ElementType type, const std::string& path) {
    switch (type) {
    case ElementType::float32: return text_of<float>;
    case ElementType::float64: return text_of<double>;
    case ElementType::complex128: return text_of<std::complex<double>>;
    case ElementType::int64: return text_of<std::int64_t>;
    case ElementType::boolean: return text_of<bool>;
    default:
        throw InvalidArgument(path + ": sparse files have float32, float64, complex128, int64 or bool, not " + to_string(type) +
                              "; convert the tensor");
    }
}

void append_number(std::string& text, std::int64_t value) { append_shortest(text, value); }

}  // namespace arges::io
