#include "interface/trace.hpp"

#include "base/options.hpp"
#include "base/overloaded.hpp"
#include "interface/check_labels.hpp"
#include "plan/plan_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

namespace arges {

/// An array of events that is complete after every append().
class TraceFile {
public:
    /// Empties the file. @throws InvalidArgument
    explicit TraceFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
        if (!file_ || !put("[", 0))
            throw InvalidArgument("ARGES_TRACE: cannot write the file \"" + path +
                                  "\"; name a file in a folder that every rank can write to, or - for lines on stderr only");
    }
    /// Writes events that are separated by commas. Where that fails the trace ends, with a line; statements go on.
    void append(const std::string& events) {
        if (!file_ || put((events_ ? ",\n" : "\n") + events, end_)) {
            events_ = true;
            return;
        }
        std::fputs(("arges: the trace ends here, \"" + path_ + "\" cannot be written any more\n").c_str(), stderr);
        file_.reset();
    }

private:
    /// Writes text at a position, and the end of the array behind it.
    bool put(const std::string& text, long position) {
        const auto whole = text + "\n]\n";
        const bool done = std::fseek(file_.get(), position, SEEK_SET) == 0 &&
                          std::fwrite(whole.data(), 1, whole.size(), file_.get()) == whole.size() &&
                          std::fflush(file_.get()) == 0;
        end_ = position + static_cast<long>(text.size());
        return done;
    }

    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    long end_ = 0;  // of the last event
    bool events_ = false;
};

namespace {

/// The process's file of that name: opened by its first world, open until the process ends.
std::shared_ptr<TraceFile> shared_file(const std::string& path) {
    static std::map<std::string, std::shared_ptr<TraceFile>> files;
    auto& file = files[path];
    if (!file) file = std::make_shared<TraceFile>(path);
    return file;
}

/// A number in digits, whatever the locale.
std::string digits(double value, std::chars_format format, int precision) {
    std::array<char, 64> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision).ptr;
    return {text.data(), end};
}

std::string json_number(double value) { return std::isfinite(value) ? digits(value, std::chars_format::general, 9) : "null"; }

/// Bytes of the UTF-8 character that starts at `i`; 0: there is none.
std::size_t utf8_length(const std::string& text, std::size_t i) {
    auto byte = [&](std::size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U; };
    const auto first = byte(0), second = byte(1);
    const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    for (std::size_t k = 1; k < length; ++k)
        if ((byte(k) & 0xc0) != 0x80) return 0;
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
    return overlong || outside ? 0 : length;
}

std::string operand_text(const std::string& name, bool conjugated, const std::vector<int>& labels,
                         const std::vector<std::string>& names) {
    std::vector<std::string> own;
    for (int l : labels) own.push_back(names[static_cast<std::size_t>(l)]);
    return (conjugated ? "conj " : "") + name + "[" + Labels(own).to_string() + "]";
}

/// Statement of a pairwise or fused product.
std::string statement_text(const Product& spec) {
    auto text = operand_text(spec.output.name, false, spec.output.labels, spec.label_names) + " <-";
    for (const auto& input : spec.factors)
        text += " " + operand_text(input.name, input.conjugated, input.labels, spec.label_names);
    return text;
}

/// Statement of a movement; its plan knows neither names nor letters.
std::string movement_text(const PlannedStep& step, const PlannedMovement& movement, const TermRequest& request) {
    const auto names = check_labels(request).names;
    auto name = [&](int operand) {
        const auto n = static_cast<std::size_t>(operand);
        return operand == output_operand ? request.output.name
               : n < request.factors.size() ? request.factors[n].name
                                            : "an intermediate for " + request.output.name;
    };
    return operand_text(name(step.output), false, movement.spec.to_labels, names) + " <- " +
           operand_text(name(step.inputs[0]), movement.conjugated, movement.spec.from_labels, names);
}

void add_to_grid(std::string& grid, const std::string& label, std::int64_t ranks) {
    if (ranks > 1) grid += (grid.empty() ? "" : " ") + label + "=" + std::to_string(ranks);
}

std::string grid_text(const ProductPlan& plan) {
    std::string grid;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
        std::vector<std::string> labels;
        for (int l : plan.axes[a].labels) labels.push_back(plan.spec.label_names[static_cast<std::size_t>(l)]);
        const auto text = Labels(labels).to_string();
        add_to_grid(grid, labels.size() == 1 ? text : "(" + text + ")", plan.places[a]);
    }
    return grid;
}

/// What a step is, and the bytes that this rank sends in it. `named` is its plan with names.
StepRecord describe(const PreparedTerm::Step& step, const PlannedStep& named, const TermRequest& request) {
    StepRecord record;
    std::visit(Overloaded{[&](const PlannedMovement& movement) {
                              record.statement = movement_text(named, movement, request);
                              record.kind = to_string(StepKind::movement);
                          },
                          [&](const ProductPlan& plan) {
                              record.statement = statement_text(plan.spec);
                              record.kind = to_string(kind_of(plan));
                              if (!plan.rows) record.grid = grid_text(plan);
                          }},
               named.work);
    record.planned_bytes = std::visit([](const auto& run) { return run->volume().sent; }, step.run) * request.element_bytes;
    return record;
}

}  // namespace

std::string json_string(const std::string& text) {
    std::string result = "\"";
    for (std::size_t i = 0; i < text.size();) {
        const auto length = utf8_length(text, i);
        const char c = text[i];
        if (length == 0)
            result += "\\ufffd";
        else if (c == '"' || c == '\\')
            result += {'\\', c};
        else if (length == 1 && c < 0x20)
            result += std::string("\\u00") + (c < 0x10 ? '0' : '1') + "0123456789abcdef"[c & 0xf];
        else
            result += text.substr(i, length);
        i += std::max<std::size_t>(1, length);
    }
    return result + "\"";
}

std::string to_line(const StepRecord& r) {
    auto cost = [](double seconds, std::int64_t bytes) {
        return digits(seconds, std::chars_format::general, 3) + " s " + std::to_string(bytes) + " B";
    };
    return "arges: " + r.statement + "  " + r.kind + (r.grid.empty() ? "" : "  " + r.grid) + "  planned " +
           cost(r.planned_seconds, r.planned_bytes) + "  measured " + cost(r.seconds, r.bytes) + "\n";
}

std::string to_event(const StepRecord& r, std::int64_t process) {
    return "{\"name\":" + json_string(r.statement) + R"(,"ph":"X","ts":)" +
           digits(r.start_microseconds, std::chars_format::fixed, 3) +
           ",\"dur\":" + digits(r.seconds * 1e6, std::chars_format::fixed, 3) + ",\"pid\":" + std::to_string(process) +
           R"(,"tid":0,"args":{"kind":)" + json_string(r.kind) + ",\"grid\":" + json_string(r.grid) +
           ",\"planned_seconds\":" + json_number(r.planned_seconds) + ",\"planned_bytes\":" + std::to_string(r.planned_bytes) +
           ",\"bytes_sent\":" + std::to_string(r.bytes) + "}}";
}

std::shared_ptr<Trace> Trace::from_option(std::int64_t rank) {
    const auto path = trace_option();
    if (!path) return nullptr;
    if (*path == "-") return std::make_shared<Trace>(rank, nullptr);
    const auto process = process_number();
    return std::make_shared<Trace>(rank, shared_file(process == 0 ? *path : *path + ".rank" + std::to_string(process)));
}

void Trace::add(const StepRecord& record) {
    if (rank_ == 0) std::fputs(to_line(record).c_str(), stderr);
    if (file_) events_ += (events_.empty() ? "" : ",\n") + to_event(record, process_number());
}

void Trace::write() {
    if (file_ && !events_.empty()) file_->append(events_);
    events_.clear();
}

StepTrace::StepTrace(const WorldState& world, const PreparedTerm& term, const TermRequest& request, std::size_t step)
    : world_(world), term_(term), request_(request), step_(step) {
    if (world.trace() == nullptr) return;
    sent_before_ = world.communicator().traffic().bytes_sent;
    date_ = std::chrono::system_clock::now();
    start_ = std::chrono::steady_clock::now();
}

void StepTrace::add() const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    const auto named = term_.named_steps(request_)[step_];
    auto record = describe(term_.steps()[step_], named, request_);
    record.planned_seconds = named.seconds(request_.element_bytes, world_.plan_options().machine);
    record.seconds = taken.count();
    record.bytes = world_.communicator().traffic().bytes_sent - sent_before_;
    record.start_microseconds = std::chrono::duration<double, std::micro>(date_.time_since_epoch()).count();
    world_.trace()->add(record);
}

}  // namespace arges
