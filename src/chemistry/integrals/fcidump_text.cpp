// FCIDUMP text (Knowles and Handy, Comput. Phys. Commun. 54, 75 (1989)), each rank the lines that begin in its part of the file.
#include "chemistry/integrals/integral_file.hpp"

#include "arges/error.hpp"
#include "chemistry/integrals/entry_source.hpp"
#include "chemistry/integrals/fcidump_form.hpp"
#include "comm/values.hpp"
#include "io/file/text_lines.hpp"

#include <algorithm>
#include <optional>

namespace arges::chemistry {

namespace {

/// The beginning of the file, on all ranks.
std::string beginning_of(const io::InputFile& file) {
    return from_first_rank(file.comm(), [&] {
        std::string text(std::min(max_header_bytes, file.size()), '\0');
        text.resize(file.read(0, text.data(), text.size()));
        return text;
    });
}

/// All ranks parse the same text, so that all see the same errors.
FcidumpHeader header_of(const io::InputFile& file, const std::string& text) {
    try {
        return parse_fcidump_header(text);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(file.path() + ", " + error.what());
    }
}

/// Positions of the lines with zero indices of a file in blocks, on every rank.
std::vector<std::int64_t> find_zero_lines(const io::InputFile& file, const FcidumpHeader& header) {
    if (header.form != OrbitalForm::spin_blocks) return {};
    std::vector<std::int64_t> mine;
    file.comm().agree([&] {
        for (io::LineReader lines(io::FileLines::part_of(file, header.data_begin)); lines.next();) {
            const ParsedLine parsed = parse_fcidump_line(lines.line(), header.orbitals);
            if (!parsed.blank && parsed.problem.empty() && parsed.entry.code == 0) mine.push_back(lines.position());
        }
    });
    std::vector<std::int64_t> all = gathered(file.comm(), mine);
    if (all.size() != FcidumpForm::zero_lines_of_blocks)
        throw InvalidArgument(file.path() + ": a file with IUHF=1 has five blocks, (aa|aa), (bb|bb), (aa|bb), h(a) and " +
                              "h(b), each ended by a line `0.0 0 0 0 0`, and the core energy in a sixth such line; " + "this one has " +
                              std::to_string(all.size()) +
                              (all.size() < FcidumpForm::zero_lines_of_blocks ? ": a block is missing, or the file is truncated"
                                                                              : " of them: remove the others"));
    return all;
}

/// The lines of an FCIDUMP file.
class FcidumpEntries : public EntrySource {
public:
    explicit FcidumpEntries(const io::InputFile& file) : FcidumpEntries(file, beginning_of(file)) {}

    const FcidumpHeader& header() const override { return header_; }
    std::int64_t memory() const override {
        return static_cast<std::int64_t>(io::LineReader::block_bytes) + most_entries() * bytes_of_entry(file_.comm().size());
    }
    void rewind() override {
        if (!form_) form_.emplace(header_, find_zero_lines(file_, header_));
        file_.comm().agree([&] { lines_.emplace(io::FileLines::part_of(file_, header_.data_begin)); });
    }
    void next(EntryRound& round) override;
    std::string place(std::int64_t position) const override { return "line " + std::to_string(io::line_number(file_, position)); }
    std::string name(std::uint64_t code) const override { return form_->name(code); }
    std::string part(EntryKind kind) const override {
        if (kind == EntryKind::two_electron) return "lines `value i j k l` without zero indices";
        if (kind == EntryKind::core_energy) return "a line `value 0 0 0 0`";
        return kind == EntryKind::one_electron ? "lines `value i j 0 0`" : "lines `value i 0 0 0`";
    }

private:
    FcidumpEntries(const io::InputFile& file, const std::string& beginning)
        : file_(file), header_(header_of(file, beginning)),
          lines_per_byte_(static_cast<double>(std::count(beginning.begin(), beginning.end(), '\n')) /
                          (std::max<std::size_t>(1, beginning.size()))) {}
    /// Of a rank in a round, at most, as long as no rank's lines are shorter by a fifth than those of the beginning.
    std::int64_t most_entries() const {
        const double bytes = static_cast<double>(file_.size()) / file_.comm().size();
        return std::min(static_cast<std::int64_t>(bytes * lines_per_byte_ * 1.25) + 1, entries_per_round);
    }

    const io::InputFile& file_;
    FcidumpHeader header_;
    double lines_per_byte_;  // of the beginning
    std::optional<FcidumpForm> form_;
    std::optional<io::LineReader> lines_;
};

void FcidumpEntries::next(EntryRound& round) {
    round.clear();
    round.entries.reserve(most_entries());
    while (std::ssize(round.entries) < entries_per_round && lines_->next()) {
        const ParsedLine parsed = form_->parse(lines_->line(), lines_->position());
        const auto end = lines_->position() + std::ssize(lines_->line());
        if (!parsed.problem.empty()) {
            round.wrong = lines_->position();
            round.problem = parsed.problem;
            if (end >= file_.size() - 1) round.problem += "; the file ends here, it may be truncated: write it again";
            return;
        }
        if (!parsed.blank) round.entries.push_back(parsed.entry);
    }
    round.more = std::ssize(round.entries) == entries_per_round;
}

}  // namespace

std::unique_ptr<EntrySource> fcidump_entries(const io::InputFile& file) { return std::make_unique<FcidumpEntries>(file); }

}  // namespace arges::chemistry
