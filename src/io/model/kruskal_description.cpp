#include "io/model/kruskal_description.hpp"

#include "arges/error.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <stdexcept>

namespace arges::io {

namespace {

std::string hexadecimal(std::uint32_t checksum) {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", checksum);
    return text;
}

std::string json_text(const std::string& text) { return nlohmann::json(text).dump(); }

/// "a, b, c" of f(0), f(1), ...
template <class F>
std::string listed(std::size_t count, const F& f) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + f(i);
    return list;
}

}  // namespace

std::string kruskal_file_name(int mode, MatrixForm form) {
    return (mode == 0 ? std::string("lambda") : "mode_" + std::to_string(mode)) + (form == MatrixForm::npy ? ".npy" : ".txt");
}

std::string row_list_name(int mode, MatrixForm form) {
    return "mode_" + std::to_string(mode) + "_rows" + (form == MatrixForm::npy ? ".npy" : ".txt");
}

std::vector<std::string> kruskal_file_names(const std::vector<bool>& is_listed, MatrixForm form) {
    std::vector<std::string> names{kruskal_file_name(0, form)};
    const int order = is_listed.size();
    for (int mode = 1; mode <= order; ++mode) names.push_back(kruskal_file_name(mode, form));
    for (int mode = 1; mode <= order; ++mode)
        if (is_listed[mode - 1]) names.push_back(row_list_name(mode, form));
    return names;
}

std::string to_text(const KruskalDescription& d) {
    const auto names = kruskal_file_names(d.is_listed, d.form);
    const auto name = [&](std::size_t file) { return json_text(names[file]); };
    const auto order = d.lengths.size();
    std::string rows;
    for (std::size_t m = 0; m < order; ++m)
        if (d.is_listed[m])
            rows += (rows.empty() ? "" : ", ") + name(m + 1) + ": " + json_text(row_list_name(static_cast<int>(m) + 1, d.form));
    if (!rows.empty()) rows = "  \"rows\": {" + rows + "},\n";
    return "{\n  \"kind\": \"Kruskal tensor\",\n"
           "  \"meaning\": \"X(i1,...,iN) = sum over r of lambda(r) mode_1(i1,r) ... mode_N(iN,r)\",\n"
           "  \"order\": " +
           std::to_string(order) + ",\n  \"components\": " + std::to_string(d.components) + ",\n  \"lengths\": [" +
           listed(order, [&](std::size_t m) { return std::to_string(d.lengths[m]); }) +
           "],\n  \"element_type\": " + json_text(d.single ? "float32" : "float64") + ",\n  \"weights\": " + name(0) +
           ",\n  \"factors\": [" + listed(order, [&](std::size_t m) { return name(m + 1); }) + "],\n" + rows + "  \"crc32\": {" +
           listed(names.size(), [&](std::size_t k) { return name(k) + ": " + json_text(hexadecimal(d.checksums[k])); }) +
           "},\n  \"temporary_names\": [" + listed(names.size(), [&](std::size_t k) { return json_text(d.temporary[k]); }) + "]\n}\n";
}

KruskalDescription parse_description(const std::string& text, const std::string& path) {
    try {
        const auto object = nlohmann::json::parse(text);
        KruskalDescription d;
        d.form = object.at("weights") == kruskal_file_name(0, MatrixForm::npy) ? MatrixForm::npy : MatrixForm::text;
        d.lengths = object.at("lengths").get<std::vector<std::int64_t>>();
        d.components = object.at("components").get<std::int64_t>();
        d.single = object.at("element_type") == "float32";
        const auto rows = object.value("rows", nlohmann::json::object());
        for (std::size_t m = 1; m <= d.lengths.size(); ++m) d.is_listed.push_back(rows.contains(kruskal_file_name(m, d.form)));
        const auto names = kruskal_file_names(d.is_listed, d.form);
        for (std::size_t k = 0; k < names.size(); ++k) {
            const auto& name = names[k];
            d.checksums.push_back(std::stoul(object.at("crc32").at(name).get<std::string>(), nullptr, 16));
            d.temporary.push_back(object.at("temporary_names").at(k).get<std::string>());
            if (!d.temporary[k].starts_with(name + ".") || d.temporary[k].find('/') != std::string::npos)
                throw std::invalid_argument(d.temporary[k] + " is no temporary name of " + name);
        }
        return d;
    } catch (const std::exception& error) {
        throw InvalidArgument(path + ": this is no description of a decomposition that save_model wrote (" + error.what() +
                              "); save it again, or remove this file to read the others by their names");
    }
}

}  // namespace arges::io
