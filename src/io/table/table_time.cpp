#include "io/table/table_time.hpp"

#include "arges/error.hpp"
#include "base/read_number.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace arges::io {

namespace {

using Kind = TimeUnit::Kind;
namespace chrono = std::chrono;

constexpr std::int64_t seconds_of_day = 86400;
constexpr std::int64_t first_monday = 4;  // of 1970, in days

std::int64_t floor_divided(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Takes so many digits off the front; -1 if they are not there.
int take_digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return -1;
    int number = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int digit = text[i] - '0';
        if (digit < 0 || digit > 9) return -1;
        number = 10 * number + digit;
    }
    text.remove_prefix(count);
    return number;
}

bool take(std::string_view& text, char sign) {
    if (!text.starts_with(sign)) return false;
    text.remove_prefix(1);
    return true;
}

/// "+02:00", "+0200", "-05" or "Z": seconds ahead of UTC.
std::optional<std::int64_t> zone_of(std::string_view text) {
    if (text.empty() || text == "Z" || text == "z") return 0;
    const bool is_behind = text[0] == '-';
    if (!take(text, '+') && !take(text, '-')) return std::nullopt;
    const int hours = take_digits(text, 2);
    take(text, ':');
    const int minutes = text.empty() ? 0 : take_digits(text, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !text.empty()) return std::nullopt;
    return (is_behind ? -1 : 1) * (hours * 3600 + minutes * 60);
}

std::optional<std::int64_t> iso_time(std::string_view text) {
    const int year = take_digits(text, 4);
    const char sign = text.empty() ? ' ' : text[0];
    if (year < 0 || (sign != '-' && sign != '/')) return std::nullopt;
    take(text, sign);
    const int month = take_digits(text, 2);
    if (!take(text, sign)) return std::nullopt;
    const int day = take_digits(text, 2);
    const chrono::year_month_day date{chrono::year{year}, chrono::month(month), chrono::day(day)};
    if (month < 0 || day < 0 || !date.ok()) return std::nullopt;
    const std::int64_t midnight = chrono::sys_days(date).time_since_epoch().count() * seconds_of_day;
    if (text.empty()) return midnight;
    if (!take(text, 'T') && !take(text, ' ') && !take(text, 't')) return std::nullopt;
    const int hour = take_digits(text, 2);
    if (!take(text, ':')) return std::nullopt;
    const int minute = take_digits(text, 2);
    int second = 0;
    if (take(text, ':')) {
        second = take_digits(text, 2);
        if (take(text, '.') || take(text, ','))
            while (!text.empty() && text[0] >= '0' && text[0] <= '9') text.remove_prefix(1);
    }
    take(text, ' ');
    const auto zone = zone_of(text);
    if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 60 || !zone) return std::nullopt;
    return midnight + hour * 3600 + minute * 60 + second - *zone;
}

chrono::year_month_day date_of(std::int64_t seconds) { return chrono::sys_days(chrono::days(floor_divided(seconds, seconds_of_day))); }

std::string digits(std::int64_t number, std::size_t width) {
    auto text = std::to_string(number < 0 ? -number : number);
    if (text.size() < width) text.insert(0, width - text.size(), '0');
    return (number < 0 ? "-" : "") + text;
}

std::string date_text(std::int64_t seconds) {
    const auto date = date_of(seconds);
    return digits(static_cast<int>(date.year()), 4) + "-" + digits(static_cast<unsigned>(date.month()), 2) + "-" +
           digits(static_cast<unsigned>(date.day()), 2);
}

std::string month_text(const TimeUnit& unit, std::int64_t bin) {
    const auto months = bin * unit.size;
    const auto year = floor_divided(months, 12);
    return digits(year, 4) + (unit.size % 12 == 0 ? "" : "-" + digits(months - 12 * year + 1, 2));
}

}  // namespace

TimeUnit parse_time_unit(std::string_view text) {
    static constexpr std::pair<std::string_view, Kind> parts[] = {
        {"minute", Kind::minute}, {"hour", Kind::hour}, {"weekday", Kind::weekday}, {"day", Kind::day}, {"month", Kind::month}};
    for (const auto& [name, kind] : parts)
        if (text == name) return {kind, 0};
    static constexpr std::pair<std::string_view, std::int64_t> sizes[] = {
        {"s", 1}, {"min", 60}, {"h", 3600}, {"d", seconds_of_day}, {"w", 7 * seconds_of_day}};
    std::int64_t count = 0;
    const auto [behind, code] = std::from_chars(text.data(), text.data() + text.size(), count);
    const auto unit = text.substr(static_cast<std::size_t>(behind - text.data()));
    if (code == std::errc() && count > 0 && count <= 1'000'000) {
        for (const auto& [name, seconds] : sizes)
            if (unit == name) return {Kind::seconds, count * seconds};
        if (unit == "mo") return {Kind::months, count};
        if (unit == "y") return {Kind::months, 12 * count};
    }
    throw InvalidArgument("'" + std::string(text) +
                          "' is no unit of time; use bins of 30s, 15min, 1h, 1d, 1w, 1mo or 1y, or one of hour, " +
                          "weekday, day, month and minute" + (unit == "m" ? " (m may be min or mo)" : ""));
}

std::optional<std::int64_t> parse_time(std::string_view text) {
    if (text.size() >= 10 && (text[4] == '-' || text[4] == '/')) return iso_time(text);
    double number = 0;
    if (!read_number(text, number) || !std::isfinite(number) || std::abs(number) >= 1e20) return std::nullopt;
    for (double limit : {1e17, 1e14, 1e11})
        if (std::abs(number) >= limit) return static_cast<std::int64_t>(std::floor(number / (limit / 1e8)));
    return static_cast<std::int64_t>(std::floor(number));
}

std::int64_t bin_of(const TimeUnit& unit, std::int64_t seconds) {
    const auto day = floor_divided(seconds, seconds_of_day), second = seconds - day * seconds_of_day;
    switch (unit.kind) {
    case Kind::seconds: {
        const bool is_weeks = unit.size % (7 * seconds_of_day) == 0;
        return floor_divided(seconds - (is_weeks ? first_monday * seconds_of_day : 0), unit.size);
    }
    case Kind::months: {
        const auto date = date_of(seconds);
        return floor_divided(std::int64_t{static_cast<int>(date.year())} * 12 + static_cast<unsigned>(date.month()) - 1, unit.size);
    }
    case Kind::minute: return second / 60 % 60;
    case Kind::hour: return second / 3600;
    case Kind::weekday: return ((day - first_monday) % 7 + 7) % 7;
    case Kind::day: return static_cast<unsigned>(date_of(seconds).day()) - 1;
    case Kind::month: return static_cast<unsigned>(date_of(seconds).month()) - 1;
    case Kind::none: break;
    }
    return 0;
}

std::string bin_text(const TimeUnit& unit, std::int64_t bin) {
    static constexpr std::array weekdays{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
    static constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
    switch (unit.kind) {
    case Kind::weekday: return weekdays[bin];
    case Kind::month: return months[bin];
    case Kind::day: return digits(bin + 1, 2);
    case Kind::months: return month_text(unit, bin);
    case Kind::seconds: break;
    default: return digits(bin, 2);
    }
    const bool is_weeks = unit.size % (7 * seconds_of_day) == 0;
    const auto first = bin * unit.size + (is_weeks ? first_monday * seconds_of_day : 0);
    auto text = date_text(first);
    if (unit.size % seconds_of_day == 0) return text;
    const auto second = first - floor_divided(first, seconds_of_day) * seconds_of_day;
    text += "T" + digits(second / 3600, 2) + ":" + digits(second / 60 % 60, 2);
    return unit.size % 60 == 0 ? text : text + ":" + digits(second % 60, 2);
}

std::int64_t cycle_length(const TimeUnit& unit) {
    switch (unit.kind) {
    case Kind::minute: return 60;
    case Kind::hour: return 24;
    case Kind::weekday: return 7;
    case Kind::day: return 31;
    case Kind::month: return 12;
    default: return 0;
    }
}

}  // namespace arges::io
