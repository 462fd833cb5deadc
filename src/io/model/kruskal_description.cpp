#include "io/model/kruskal_description.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <span>
#include <stdexcept>

namespace arges::io {

namespace {

std::string hexadecimal(std::uint32_t checksum) {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", checksum);
    return text;
}

std::string json_text(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace

std::string kruskal_file_name(int mode, MatrixForm form) {
    return (mode == 0 ? std::string("lambda") : "mode_" + std::to_string(mode)) + (form == MatrixForm::npy ? ".npy" : ".txt");
}

std::string row_list_name(int mode, MatrixForm form) {
    return "mode_" + std::to_string(mode) + "_rows" + (form == MatrixForm::npy ? ".npy" : ".txt");
}

std::string bias_file_name(int mode, MatrixForm form) {
    return "bias_" + std::to_string(mode) + (form == MatrixForm::npy ? ".npy" : ".txt");
}

std::vector<std::string> kruskal_file_names(const std::vector<bool>& is_listed, MatrixForm form, bool has_biases) {
    std::vector<std::string> names{kruskal_file_name(0, form)};
    const int order = is_listed.size();
    for (int mode = 1; mode <= order; ++mode) names.push_back(kruskal_file_name(mode, form));
    for (int mode = 1; mode <= order; ++mode)
        if (is_listed[mode - 1]) names.push_back(row_list_name(mode, form));
    for (int mode = 1; has_biases && mode <= order; ++mode) names.push_back(bias_file_name(mode, form));
    return names;
}

std::string to_text(const KruskalDescription& d) {
    const auto names = kruskal_file_names(d.is_listed, d.form, d.has_biases);
    const auto order = d.lengths.size();
    std::vector<std::string> files, sums, temporary, lists;
    for (std::size_t k = 0; k < names.size(); ++k) {
        files.push_back(json_text(names[k]));
        sums.push_back(files[k] + ": " + json_text(hexadecimal(d.checksums[k])));
        temporary.push_back(json_text(d.temporary[k]));
    }
    for (std::size_t m = 1; m <= order; ++m)
        if (d.is_listed[m - 1]) lists.push_back(files[m] + ": " + json_text(row_list_name(m, d.form)));
    const auto rows = lists.empty() ? "" : "  \"rows\": {" + joined(lists) + "},\n";
    const auto biases =
        d.has_biases ? "  \"mean\": " + nlohmann::json(d.mean).dump() + ",\n  \"biases\": [" + joined(std::span(files).last(order)) + "],\n"
                     : "";
    return "{\n  \"kind\": \"Kruskal tensor\",\n"
           "  \"meaning\": \"X(i1,...,iN) = " +
           std::string(d.has_biases ? "mean + bias_1(i1) + ... + bias_N(iN) + " : "") +
           "sum over r of lambda(r) mode_1(i1,r) ... mode_N(iN,r)\",\n"
           "  \"order\": " +
           std::to_string(order) + ",\n  \"components\": " + std::to_string(d.components) + ",\n  \"lengths\": [" + joined(d.lengths) +
           "],\n  \"element_type\": " + json_text(d.single ? "float32" : "float64") + ",\n  \"weights\": " + files[0] +
           ",\n  \"factors\": [" + joined(std::span(files).subspan(1, order)) + "],\n" + rows + biases + "  \"crc32\": {" + joined(sums) +
           "},\n  \"temporary_names\": [" + joined(temporary) + "]\n}\n";
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
        d.has_biases = object.contains("mean");
        if (d.has_biases) d.mean = object.at("mean").get<double>();
        const auto names = kruskal_file_names(d.is_listed, d.form, d.has_biases);
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
