/// Times in tables, and what becomes of them: numbers of bins, or of parts that come again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace arges::io {

/// What a column of times is made of.
struct TimeUnit {
    enum class Kind : std::uint8_t { none, seconds, months, minute, hour, weekday, day, month };
    Kind kind = Kind::none;
    std::int64_t size = 0;  ///< of a bin, in seconds or months

    bool is_bins() const { return kind == Kind::seconds || kind == Kind::months; }
    bool is_cyclic() const { return kind > Kind::months; }
};

/// What stands behind the colon of a column, as 15min or weekday. @throws InvalidArgument for anything else, without the column
TimeUnit parse_time_unit(std::string_view text);

/// Seconds since 1970 in UTC: of ISO 8601 (2024-01-31, with T or a blank and 12:30, 12:30:05 or 12:30:05.25, then Z or +02:00 where it is
/// not UTC), or of a number of seconds, which is one of milli-, micro- or nanoseconds from 10^11, 10^14 or 10^17 on. Fractions are cut.
std::optional<std::int64_t> parse_time(std::string_view text);

/// Number of the bin that has a time, from that of 1970 on; weeks begin on Mondays. Of cyclic units the number of the part.
/// Example: 1d of 1970-01-03 is 2, weekday 5.
std::int64_t bin_of(const TimeUnit& unit, std::int64_t seconds);

/// Name of a bin: its first time, as far as it is needed: 2024-01-31T05:00; or of a part: Monday.
std::string bin_text(const TimeUnit& unit, std::int64_t bin);

/// Number of parts of a cyclic unit.
std::int64_t cycle_length(const TimeUnit& unit);

}  // namespace arges::io
