# An SVG of the efficiencies of one kind of scaling (-v wanted=weak) in a scaling.csv, against the number of ranks on a logarithmic axis.
BEGIN {
    FS = ","
    split("#1b9e77 #d95f02 #7570b3 #e7298a #66a61e #e6ab02 #a6761d #666666", colours, " ")
    left = 60; right = 170; top = 40; bottom = 50; width = 760; height = 440
}
NR > 1 && $1 == wanted {
    if (!($2 in count)) order[++cases] = $2
    if (!(($2, $4) in rate)) points[$2, ++count[$2]] = $4 + 0
    rate[$2, $4] = $7 / $9 / $4
    if (least == "" || $4 < least) least = $4 + 0
    if ($4 > most) most = $4 + 0
}
function x(ranks) { return left + (width - left - right) * (most > least ? log(ranks / least) / log(most / least) : 0) }
function y(value) { return height - bottom - (height - top - bottom) * value / highest }
function text(at, below, anchor, words) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", at, below, anchor, words }
END {
    highest = 1
    for (c = 1; c <= cases; ++c) {
        name = order[c]
        n = count[name]
        for (i = 2; i <= n; ++i) {
            r = points[name, i]
            for (j = i - 1; j >= 1 && points[name, j] > r; --j) points[name, j + 1] = points[name, j]
            points[name, j + 1] = r
        }
        for (i = 1; i <= n; ++i) {
            efficiency[name, i] = rate[name, points[name, i]] / rate[name, points[name, 1]]
            while (efficiency[name, i] > highest && highest < 3) highest += 0.25
        }
    }
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", width, height
    print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    text(left, 20, "start", "Efficiency, " wanted " scaling: work per rank and second over that on the fewest ranks")
    for (v = 0; v <= highest + 1e-9; v += 0.25) {
        printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", left, width - right, y(v), y(v)
        text(left - 6, y(v) + 4, "end", sprintf("%.2f", v))
    }
    for (c = 1; c <= cases; ++c)
        for (i = 1; i <= count[order[c]]; ++i)
            if (!(points[order[c], i] in marked)) {
                marked[points[order[c], i]] = 1
                text(x(points[order[c], i]), height - bottom + 18, "middle", points[order[c], i])
            }
    text((left + width - right) / 2, height - 10, "middle", "ranks")
    for (c = 1; c <= cases; ++c) {
        name = order[c]
        style = sprintf("stroke=\"%s\" stroke-width=\"2\"%s", colours[(c - 1) % 8 + 1], c > 8 ? " stroke-dasharray=\"4 3\"" : "")
        printf "<polyline fill=\"none\" %s points=\"", style
        for (i = 1; i <= count[name]; ++i) printf "%.1f,%.1f ", x(points[name, i]), y(efficiency[name, i] < highest ? efficiency[name, i] : highest)
        print "\"/>"
        printf "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" %s/>\n", width - right + 12, width - right + 42, top + 20 * c, top + 20 * c, style
        text(width - right + 48, top + 20 * c + 4, "start", name)
    }
    print "</svg>"
}
