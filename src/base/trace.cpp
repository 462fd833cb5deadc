#include "base/trace.hpp"

#include "arges/error.hpp"
#include "base/options.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
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
                          std::fwrite(whole.data(), 1, whole.size(), file_.get()) == whole.size() && std::fflush(file_.get()) == 0;
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

/// A number in three digits, whatever the locale.
std::string digits(double value) {
    std::array<char, 64> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3).ptr};
}

}  // namespace

std::string to_line(const StepRecord& r) {
    auto cost = [](double seconds, std::int64_t bytes) { return digits(seconds) + " s " + std::to_string(bytes) + " B"; };
    return "arges: " + r.statement + "  " + r.kind + (r.grid.empty() ? "" : "  " + r.grid) + "  planned " +
           cost(r.planned_seconds, r.planned_bytes) + "  measured " + cost(r.seconds, r.bytes) + "  exposed " + digits(r.exposed_seconds) +
           " s\n";
}

std::string to_event(const StepRecord& r, std::int64_t process) {
    using Json = nlohmann::ordered_json;
    const Json arguments{{"kind", r.kind},
                         {"grid", r.grid},
                         {"planned_seconds", r.planned_seconds},
                         {"exposed_seconds", r.exposed_seconds},
                         {"planned_bytes", r.planned_bytes},
                         {"bytes_sent", r.bytes}};
    const Json event{{"name", r.statement}, {"ph", "X"}, {"ts", r.start_microseconds}, {"dur", r.seconds * 1e6},
                     {"pid", process},      {"tid", 0},  {"args", arguments}};
    return event.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::shared_ptr<Trace> Trace::from_option(std::int64_t rank, std::int64_t process) {
    const auto path = trace_option();
    if (!path) return nullptr;
    if (*path == "-") return std::make_shared<Trace>(rank, process, nullptr);
    return std::make_shared<Trace>(rank, process, shared_file(process == 0 ? *path : *path + ".rank" + std::to_string(process)));
}

void Trace::add(const StepRecord& record) {
    if (rank_ == 0) std::fputs(to_line(record).c_str(), stderr);
    if (file_) events_ += (events_.empty() ? "" : ",\n") + to_event(record, process_);
}

void Trace::write() {
    if (file_ && !events_.empty()) file_->append(events_);
    events_.clear();
}

}  // namespace arges
