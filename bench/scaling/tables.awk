# Tables of a scaling.csv: for each kind of scaling and each case a row for each number of ranks, ascending. Of rows that say the same the
# last one counts. Efficiency: work per rank and second, over that on the fewest ranks. Exits with 1 if bytes were not as planned.
BEGIN { FS = "," }
NR == 1 { next }
{
    key = $1 "," $2
    if (!(key in count)) order[++keys] = key
    if (!((key, $4) in row)) ranks[key, ++count[key]] = $4 + 0
    row[key, $4] = $0
}
function number(text, form) { return text < 0 ? "-" : sprintf(form, text) }
END {
    line = "%-7s %-13s %6s %-26s %10s %10s %10s %9s %6s %12s %14s %14s %9s%s\n"
    for (k = 1; k <= keys; ++k) {
        key = order[k]
        n = count[key]
        for (i = 2; i <= n; ++i) {  # a few numbers
            r = ranks[key, i]
            for (j = i - 1; j >= 1 && ranks[key, j] > r; --j) ranks[key, j + 1] = ranks[key, j]
            ranks[key, j + 1] = r
        }
        if (k == 1)
            printf line, "scaling", "case", "ranks", "size", "first s", "seconds", "predicted", "pred/meas", "effic.", "rate/rank", "bytes sent", "planned", "messages", ""
        for (i = 1; i <= n; ++i) {
            split(row[key, ranks[key, i]], f, ",")
            rate = f[7] / f[9] / f[4]
            if (i == 1) base = rate
            note = f[14] > 0 ? "  NOT AS PLANNED on " f[14] " ranks" : ""
            if (f[14] > 0) wrong = 1
            printf line, f[1], f[2], f[4], f[3], sprintf("%.3g", f[8]), sprintf("%.3g", f[9]), number(f[10], "%.3g"),
                f[10] < 0 ? "-" : sprintf("%.2f", f[10] / f[9]), sprintf("%.2f", rate / base),
                sprintf("%.2f M%s/s", rate / 1e6, f[6] == "flop" ? "flop" : substr(f[6], 1, 4)), sprintf("%.0f", f[11]), number(f[12], "%.0f"), sprintf("%.0f", f[13]), note
        }
    }
    exit wrong
}
