/// One function for each type of a std::variant, for std::visit.
#pragma once

namespace arges {

/// Example: std::visit(Overloaded{[](int n) { ... }, [](const std::string& text) { ... }}, value).
template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace arges
