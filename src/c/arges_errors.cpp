// Status, messages and checks of the functions of arges.h.
#include "arges/error.hpp"
#include "c/arges_c.hpp"

#include <algorithm>

namespace arges::c {

namespace {

thread_local std::string message;
thread_local const char* function = "";

arges_status failed_with(arges_status status, const char* text) noexcept {
    try {
        message = text;
    } catch (...) {
        message.clear();  // the status alone, where there is no memory for a text
    }
    return status;
}

std::string without_blanks(const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

}  // namespace

void begin_call(const char* name) noexcept { function = name; }

arges_status succeeded() noexcept {
    message.clear();
    return ARGES_OK;
}

arges_status failed() noexcept {
    try {
        throw;
    } catch (const InvalidArgument& error) {
        return failed_with(ARGES_INVALID_ARGUMENT, error.what());
    } catch (const OutOfMemory& error) {
        return failed_with(ARGES_OUT_OF_MEMORY, error.what());
    } catch (const std::bad_alloc&) {
        return failed_with(ARGES_OUT_OF_MEMORY, "out of memory: an allocation failed; use more ranks or a smaller problem");
    } catch (const Unsupported& error) {
        return failed_with(ARGES_UNSUPPORTED, error.what());
    } catch (const MpiError& error) {
        return failed_with(ARGES_MPI_ERROR, error.what());
    } catch (const std::exception& error) {
        return failed_with(ARGES_ERROR, error.what());
    } catch (...) {
        return failed_with(ARGES_ERROR, "an exception that is not a std::exception");
    }
}

void refuse(const std::string& text) { throw InvalidArgument(std::string(function) + ": " + text); }

void require_given(const void* pointer, const char* name) {
    if (pointer == nullptr) refuse(std::string(name) + " is a null pointer; give one that leads somewhere");
}

void require_floating(const AnyTensor& tensor, const char* what) {
    state_of(tensor, what);
    if (tensor.element() >= ElementType::int16)
        throw InvalidArgument(tensor.title() + ": " + what + " needs floating-point elements, not " + to_string(tensor.element()) +
                              "; convert the tensor");
}

void require_array(const void* array, std::int64_t count, const char* name) {
    if (count < 0) refuse("a count of " + std::to_string(count) + "; it must not be negative");
    if (count > 0 && array == nullptr) refuse(std::string(name) + " is a null pointer; give an array of " + std::to_string(count));
}

std::string text_of(const char* text, const char* name) { return &given(text, name); }

Labels labels_of(const char* text, const char* name) {
    const auto all = text_of(text, name);
    if (all.find(',') == std::string::npos) return all;
    std::vector<std::string> names;
    const auto add = [&](const std::string& part) {
        const auto bare = without_blanks(part);
        if (bare.empty())
            refuse(std::string(name) + " \"" + all + "\" has an empty name; write names with commas between them, as in \"a1,a2\"");
        names.push_back(bare);
    };
    // The bar and the arrow of a matricization end a name, and are names themselves.
    std::size_t begin = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string mark = all[i] == ',' || all[i] == '|' ? all.substr(i, 1) : all.compare(i, 2, "->") == 0 ? "->" : "";
        if (mark.empty()) continue;
        add(all.substr(begin, i - begin));
        if (mark != ",") names.push_back(mark);
        i += mark.size() - 1;
        begin = i + 1;
    }
    const bool ends_with_comma = all.find_last_not_of(' ') == all.rfind(',');
    if (!ends_with_comma) add(all.substr(begin));  // "a1," is a list of one name
    return names;
}

std::vector<std::int64_t> numbers_of(const std::int64_t* numbers, int count, const char* name) {
    require_array(numbers, count, name);
    return {numbers, numbers + count};
}

Symmetry symmetry_of(int order, const char* letters, const char* symmetry) {
    if (symmetry == nullptr || without_blanks(symmetry).empty()) return Symmetry::none(order);
    const auto names = text_of(letters, "letters");
    if (names.size() != static_cast<std::size_t>(order))
        refuse("letters \"" + names + "\" for " + std::to_string(order) + " dimensions; give a letter for each");
    return Symmetry::parse(names, symmetry);
}

const World& meeting(std::initializer_list<const arges_tensor*> tensors) {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [](const auto* tensor) { return tensor != nullptr; });
    if (found == tensors.end()) refuse("the tensor is a null pointer; create one with arges_tensor_create()");
    return (*found)->tensor.world();
}

Number number_at(ElementType type, const void* place, std::int64_t otherwise) {
    if (place == nullptr) return otherwise;
    return number_from(element_at(type, place).data(), type);
}

ElementValue element_at(ElementType type, const void* place) {
    if (type == ElementType::boolean) return ElementValue::of(*static_cast<const unsigned char*>(place) != 0);
    return {place, element_kernels(type).size};
}

}  // namespace arges::c

using namespace arges::c;

const char* arges_message(void) { return message.c_str(); }

void arges_version(int* major, int* minor) {
    if (major != nullptr) *major = ARGES_VERSION_MAJOR;
    if (minor != nullptr) *minor = ARGES_VERSION_MINOR;
}

void arges_free(void* allocated) { std::free(allocated); }
