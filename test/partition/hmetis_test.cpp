#include "partition/hypergraph/hmetis.hpp"

#include "arges/error.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "support/hypergraphs.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace arges::partition::test {
namespace {

std::string text_of(const Hypergraph& h) {
    std::ostringstream out;
    write_hmetis(out, h);
    return out.str();
}

Hypergraph hypergraph_of(const std::string& text) {
    std::istringstream in(text);
    return read_hmetis(in, "x.hgr");
}

std::string refusal(const std::string& text) {
    try {
        hypergraph_of(text);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

VertexParts parts_of(const std::string& text, std::int64_t vertices = 3, std::int64_t parts = 4) {
    std::istringstream in(text);
    return read_partition(in, "x.part", vertices, parts);
}

std::string partition_refusal(const std::string& text) {
    try {
        parts_of(text);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

HypergraphData small() {
    HypergraphData data;
    data.vertices = 3;
    data.net_begin = {0, 2, 2, 5};
    data.pins = {0, 2, 2, 1, 0};
    return data;
}

TEST(Hmetis, WritesWhatTheHypergraphHas) {
    auto data = small();
    EXPECT_EQ(text_of(Hypergraph(data)), "3 3\n1 3\n\n3 2 1\n");
    data.costs = {4, 5, 6};
    EXPECT_EQ(text_of(Hypergraph(data)), "3 3 1\n4 1 3\n5\n6 3 2 1\n");
    data.weights = {7, 8, 9};
    EXPECT_EQ(text_of(Hypergraph(data)), "3 3 11\n4 1 3\n5\n6 3 2 1\n7\n8\n9\n");
    data.costs.clear();
    EXPECT_EQ(text_of(Hypergraph(data)), "3 3 10\n1 3\n\n3 2 1\n7\n8\n9\n");
    data.constraints = 2;
    data.weights = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ(text_of(Hypergraph(data)), "3 3 10 2\n1 3\n\n3 2 1\n1 2\n3 4\n5 6\n");
    EXPECT_EQ(text_of(Hypergraph()), "0 0\n");
}

TEST(Hmetis, FineGrainFilesHaveNetsOfNonemptySlices) {
    const TensorIndices tensor({3, 2}, {{0, 1}, {2, 1}, {2, 0}});
    EXPECT_EQ(text_of(fine_grain_hypergraph(SliceTable(tensor.view()))), "4 3\n1\n2 3\n3\n1 2\n");
}

TEST(Hmetis, WhatWasWrittenIsReadBack) {
    RandomNumbers random(3);
    for (int i = 0; i < 100; ++i) {
        const auto h = random_hypergraph(random.below(20), random.below(20), 1 + static_cast<int>(random.below(3)), random);
        const auto text = text_of(h);
        const auto again = hypergraph_of(text);
        EXPECT_EQ(text_of(again), text);
        EXPECT_EQ(again.vertices(), h.vertices());
        EXPECT_EQ(again.total_weights(), h.total_weights());
    }
    EXPECT_EQ(hypergraph_of("% by hand\n 2 3 1 \r\n%\n7 1\t2 \r\n9 3\n\n").cost(0), 7);
}

TEST(Hmetis, RefusesWrongFilesByLine) {
    EXPECT_TRUE(has(refusal(""), "'nets vertices [format]'"));
    EXPECT_TRUE(has(refusal("3\n"), "line 1: the number of vertices is missing"));
    EXPECT_TRUE(has(refusal("1 2 7\n"), "line 1: format 7"));
    EXPECT_TRUE(has(refusal("1 2 1 1 1\n"), "line 1: there is more"));
    EXPECT_TRUE(has(refusal("-1 2\n"), "line 1: the number of nets is -1"));
    EXPECT_TRUE(has(refusal("2 2\n1 2\n"), "ends after line 2: the first line promises 2 nets, there are 1"));
    EXPECT_TRUE(has(refusal("1 2\n1 3\n"), "line 2: vertex 3 is not from 1 to 2"));
    EXPECT_TRUE(has(refusal("1 2\n0 1\n"), "line 2: vertex 0"));
    EXPECT_TRUE(has(refusal("1 2\n1 b\n"), "line 2: 'b' is no whole number"));
    EXPECT_TRUE(has(refusal("1 2\n1 1.5\n"), "'1.5'"));
    EXPECT_TRUE(has(refusal("1 2\n1 99999999999999999999\n"), "'99999999999999999999'"));
    EXPECT_TRUE(has(refusal("1 2 1\n\n"), "line 2: the cost of the net is missing"));
    EXPECT_TRUE(has(refusal("1 2 1\n-4 1\n"), "line 2: the cost of the net is -4"));
    EXPECT_TRUE(has(refusal("1 2 10\n1 2\n1\n"), "ends after line 3: weights of 2 vertices"));
    EXPECT_TRUE(has(refusal("1 2 10\n1 2\n1 1\n1\n"), "line 3: there is more"));
    EXPECT_TRUE(has(refusal("1 2\n1 2\n2 1\n"), "line 3: the file goes on"));
    EXPECT_TRUE(has(refusal("0 2 0 2\n"), "no weights"));
}

TEST(PartitionFile, IsRead) {
    EXPECT_EQ(parts_of("3\n0\r\n 1 \n"), (VertexParts{3, 0, 1}));
    EXPECT_EQ(parts_of("% parts of rows\n3\n% 1\n0\n1\n%"), (VertexParts{3, 0, 1}));
    EXPECT_EQ(parts_of("", 0), VertexParts{});
}

TEST(PartitionFile, RefusesWrongFilesByLineWithTheCure) {
    const std::string cure = "; a partition file has one line for each of the 3 vertices, with a part from 0 to 3 and nothing else";
    EXPECT_EQ(partition_refusal("0\n\n1\n2\n"), "x.part, line 2: the line is empty" + cure);
    EXPECT_EQ(partition_refusal("0\n% 1\n1\n"), "x.part ends after line 3: the partition is of 2 vertices only" + cure);
    EXPECT_EQ(partition_refusal("0\n1 % one\n1\n"), "x.part, line 2: there is more than one number" + cure);
    EXPECT_EQ(partition_refusal("# parts\n"), "x.part, line 1: '#' is no whole number" + cure);
    EXPECT_EQ(partition_refusal("0\n1\n"), "x.part ends after line 2: the partition is of 2 vertices only" + cure);
    EXPECT_EQ(partition_refusal("0\n1\n2\n3\n"), "x.part, line 4: the partition is of more than 3 vertices" + cure);
    EXPECT_EQ(partition_refusal("0\n4\n1\n"), "x.part, line 2: the part is 4, it must be from 0 to 3" + cure);
    EXPECT_EQ(partition_refusal("-1\n"), "x.part, line 1: the part is -1, it must be from 0 to 3" + cure);
    EXPECT_EQ(partition_refusal("0 1\n"), "x.part, line 1: there is more than one number" + cure);
    EXPECT_EQ(partition_refusal("one\n"), "x.part, line 1: 'one' is no whole number" + cure);
}

}  // namespace
}  // namespace arges::partition::test
