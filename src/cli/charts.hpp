/// Small charts in SVG for a page of HTML. Labels are texts that are not yet escaped; colours come from the page. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace arges::cli {

/// A bar and what stands beside it.
struct ChartBar {
    std::string label{};  ///< long ones are cut, and whole where the mouse is
    double value = 0;
    std::string text{};  ///< behind the bar; empty: the value
};

/// Horizontal bars from a common zero.
/// @param what   is shown, for those who do not see it @param alike  labels of other charts that are to have their zero at the same place
std::string bar_chart(const std::vector<ChartBar>& bars, const std::string& what, const std::vector<std::string>& alike = {});

/// Upright bars side by side, in their order, with the first and the last label below.
std::string column_chart(const std::vector<ChartBar>& bars, const std::string& what);

/// Values along an axis.
struct ChartLine {
    std::vector<double> least{}, largest{};  ///< by place; a band where they differ
    bool is_second = false;                  ///< drawn so that it can be told from the first
};

/// Lines, with the ends of both axes. @param first, last  what stands below the ends @param with_zero  the axis has zero
std::string line_chart(const std::vector<ChartLine>& lines, const std::string& first, const std::string& last, bool with_zero,
                       const std::string& what);

}  // namespace arges::cli
