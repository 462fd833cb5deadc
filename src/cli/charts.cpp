#include "cli/charts.hpp"

#include "cli/html.hpp"
#include "cli/ids.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace arges::cli {

namespace {

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::string opening(double width, double height, const std::string& what) {
    return fmt::format("<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
                       width, height, escaped(what));
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, escaped(text));
}

std::string line(double x, double y, double to_x, double to_y) {
    return fmt::format("<line class=\"axis\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x, y, to_x, to_y);
}

std::string rectangle(double x, double y, double width, double height, bool is_negative, const std::string& title) {
    return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}</title></rect>\n",
                       is_negative ? "minus" : "plus", x, y, std::max(width, 0.5), std::max(height, 0.5), escaped(title));
}

/// From the least to the largest value, and zero where that is asked for; never empty.
struct Axis {
    double low = 0, high = 1;

    /// 0 to 1.
    double part(double value) const { return (value - low) / (high - low); }
};

/// Not finite values count nowhere.
Axis axis_of(const std::vector<double>& values, bool with_zero) {
    Axis axis{INFINITY, -INFINITY};
    for (double value : values) {
        if (!std::isfinite(value)) continue;
        axis.low = std::min(axis.low, value);
        axis.high = std::max(axis.high, value);
    }
    if (!(axis.low <= axis.high)) return {};
    if (with_zero) axis = {std::min(axis.low, 0.0), std::max(axis.high, 0.0)};
    if (axis.low == axis.high) axis.high = axis.low + std::max(1e-300, std::abs(axis.low));
    return axis;
}

std::vector<double> values_of(const std::vector<ChartBar>& bars) {
    std::vector<double> values;
    for (const auto& bar : bars) values.push_back(bar.value);
    return values;
}

/// What stands behind a bar.
std::string text_behind(const ChartBar& bar) { return bar.text.empty() ? fmt::format("{:.4g}", bar.value) : bar.text; }

/// How wide the widest of some texts will be, about.
template <class F>
double widest(const std::vector<ChartBar>& bars, F&& text_of) {
    constexpr double of_letter = 7;
    std::ptrdiff_t most = 4;
    for (const auto& bar : bars) {
        const auto text = text_of(bar);
        most = std::max(most,
                        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
    }
    return of_letter * static_cast<double>(most);
}

/// What a bar is, where the mouse is.
std::string title_of(const ChartBar& bar) { return bar.label + ": " + text_behind(bar); }

}  // namespace

std::string bar_chart(const std::vector<ChartBar>& bars, const std::string& what, const std::vector<std::string>& alike) {
    constexpr double room = 120, height = 17, gap = 6;
    auto all = bars;
    for (const auto& label : alike) all.push_back({label});
    const auto label_of = [](const ChartBar& bar) { return shown_id(bar.label); };
    const double labels = widest(all, label_of), texts = widest(bars, text_behind);
    const auto axis = axis_of(values_of(bars), true);
    const double zero = labels + gap + room * axis.part(0);
    auto text = opening(labels + room + texts + 3 * gap, height * static_cast<double>(bars.size()) + 4, what);
    double y = 2;
    for (const auto& bar : bars) {
        const double x = labels + gap + room * axis.part(std::isfinite(bar.value) ? bar.value : 0);
        text += "<g>" + text_at(labels, y + 12, "end", shown_id(bar.label)) +
                rectangle(std::min(x, zero), y + 2, std::abs(x - zero), height - 4, bar.value < 0, title_of(bar)) +
                text_at(labels + room + 2 * gap, y + 12, "start", text_behind(bar), " class=\"soft\"") + "</g>\n";
        y += height;
    }
    return text + line(zero, 0, zero, y + 2) + "</svg>\n";
}

std::string column_chart(const std::vector<ChartBar>& bars, const std::string& what) {
    constexpr double width = 300, height = 96, left = 64, below = 16, above = 8;
    const auto axis = axis_of(values_of(bars), true);
    const auto y_of = [&](double value) { return above + height * (1 - axis.part(std::isfinite(value) ? value : 0)); };
    const double step = width / static_cast<double>(std::max<std::size_t>(bars.size(), 1));
    auto text = opening(left + width + 4, above + height + below, what);
    for (std::size_t b = 0; b < bars.size(); ++b) {
        const double y = y_of(bars[b].value), zero = y_of(0);
        text += rectangle(left + step * (static_cast<double>(b) + 0.1), std::min(y, zero), 0.8 * step, std::abs(y - zero),
                          bars[b].value < 0, title_of(bars[b]));
    }
    text += line(left, y_of(0), left + width, y_of(0));
    text += text_at(left - 4, above + 8, "end", number(axis.high), " class=\"soft\"");
    if (axis.low < 0) text += text_at(left - 4, above + height, "end", number(axis.low), " class=\"soft\"");
    if (!bars.empty()) {
        text += text_at(left, above + height + 13, "start", shown_id(bars.front().label), " class=\"soft\"");
        if (bars.size() > 1) text += text_at(left + width, above + height + 13, "end", shown_id(bars.back().label), " class=\"soft\"");
    }
    return text + "</svg>\n";
}

std::string line_chart(const std::vector<ChartLine>& lines, const std::string& first, const std::string& last, bool with_zero,
                       const std::string& what) {
    constexpr double width = 300, height = 96, left = 64, below = 16, above = 8;
    std::vector<double> values;
    for (const auto& curve : lines) {
        values.insert(values.end(), curve.least.begin(), curve.least.end());
        values.insert(values.end(), curve.largest.begin(), curve.largest.end());
    }
    const auto axis = axis_of(values, with_zero);
    auto text = opening(left + width + 4, above + height + below, what);
    text += line(left, above, left, above + height) + line(left, above + height, left + width, above + height);
    if (with_zero && axis.low < 0) {
        const double zero = above + height * (1 - axis.part(0));
        text += line(left, zero, left + width, zero);
    }
    for (const auto& curve : lines) {
        const auto count = curve.least.size();
        const auto point = [&](std::size_t i, double value) {
            const double x = left + width * (count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.5);
            return fmt::format("{:.1f},{:.1f} ", x, above + height * (1 - axis.part(value)));
        };
        const bool is_band = curve.least != curve.largest;
        std::string points;
        for (std::size_t i = 0; i < count; ++i)
            if (std::isfinite(curve.largest[i])) points += point(i, curve.largest[i]);
        for (auto i = count; is_band && i-- > 0;)
            if (std::isfinite(curve.least[i])) points += point(i, curve.least[i]);
        text += fmt::format("<{} class=\"{}{}\" points=\"{}\"/>\n", is_band ? "polygon" : "polyline", is_band ? "band" : "curve",
                            curve.is_second ? " second" : "", points);
    }
    text += text_at(left - 4, above + 8, "end", number(axis.high), " class=\"soft\"");
    text += text_at(left - 4, above + height, "end", number(axis.low), " class=\"soft\"");
    text += text_at(left, above + height + 13, "start", shown_id(first), " class=\"soft\"");
    return text + text_at(left + width, above + height + 13, "end", shown_id(last), " class=\"soft\"") + "</svg>\n";
}

}  // namespace arges::cli
