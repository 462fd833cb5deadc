#include "base/spelling.hpp"
#include "cli/subcommand.hpp"

#include <algorithm>

namespace arges::cli {

CLI::Validator one_of(const std::vector<std::string>& words, const std::vector<std::string>& also) {
    std::string known;
    for (const auto& word : words) known += (known.empty() ? "{" : ",") + word;
    known += "}";
    return CLI::Validator(
        [=](std::string& text) {
            for (const auto* list : {&words, &also})
                if (std::find(list->begin(), list->end(), text) != list->end()) return std::string();
            auto all = words;
            all.insert(all.end(), also.begin(), also.end());
            const auto nearest = nearest_word(text, all);
            return text + " not in " + known + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
        },
        known);
}

std::string spelling_hint(const CLI::App& app) {
    const auto subcommands = app.get_subcommands();
    const CLI::App& used = subcommands.empty() ? app : *subcommands.front();
    const auto others = app.remaining(true);
    if (others.empty()) return "";
    const std::string word = others.front().substr(0, others.front().find('='));
    std::vector<std::string> words;
    if (word.starts_with("--")) {
        for (const CLI::Option* option : used.get_options())
            for (const std::string& name : option->get_lnames()) words.push_back(name);
    } else if (subcommands.empty()) {
        for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) words.push_back(other->get_name());
    }
    const std::string sign = word.starts_with("--") ? "--" : "", nearest = nearest_word(word.substr(sign.size()), words);
    return nearest.empty() ? "" : "; did you mean " + sign + nearest + "?";
}

}  // namespace arges::cli
