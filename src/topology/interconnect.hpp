/// The links between ranks, and what messages between ranks put on them. Pure.
#pragma once

#include "arges/machine.hpp"
#include "arges/torus.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace arges {

/// @throws InvalidArgument if there are several rates, but not one for each dimension of the torus
void check_link_rates(const Torus& torus, const Interconnect& interconnect);

/// @throws InvalidArgument if there are rates of levels, but not one for each, or a torus beside the levels
void check_levels(const Interconnect& interconnect);

/// Some dimensions of an unfolded torus, a bit for each.
using Dimensions = std::uint64_t;

inline Dimensions dimension(int t) { return Dimensions{1} << t; }

/// The dimensions along which elements change ranks when a tensor is moved. Slots are added one by one.
class ExchangedDimensions {
public:
    /// A slot that lies along `from`, each time in the order of a combined coordinate, and comes to lie along `to`; what both begin with
    /// stays.
    void add(std::span<const int> from, std::span<const int> to);
    /// Along these, ranks have parts of a sum.
    void add_parts(std::span<const int> from);
    /// Along what the source leaves open there are copies, which are read where they are.
    Dimensions result() const { return left_ | (entered_ & present_); }

private:
    Dimensions present_ = 0, left_ = 0, entered_ = 0;
};

/// How ranks on a line pass on what they hold, so that all of them come to hold all of it.
enum class RelayWay : std::uint8_t {
    direct,  ///< each to each
    line,    ///< from neighbour to neighbour, both ways
    ring     ///< likewise, round the torus
};

/// What a rank does that sends messages.
struct RankRates {
    double bytes_per_second = 0, message_seconds = 0;
};

/// The links of a torus, or of levels: nodes of ranks behind a switch, groups of nodes, and so on. On a torus messages take
/// dimension-ordered routes, in each dimension the shorter way round; over levels they go up as far as they must. All messages of an
/// exchange are under way at the same time.
class Links {
public:
    /// What a byte does that each rank sends, spread evenly over the other ranks that differ from it along some dimensions.
    struct Use {
        double busiest = 0;  ///< bytes on the busiest link
        double mean = 0;     ///< bytes on a link on average, over the dimensions that are used
        double hops = 0;     ///< links on the way of a message on average
        double cost = 1;     ///< seconds in those that a rank takes to send a byte
    };

    /// @throws InvalidArgument as check_link_rates() does
    static Links of_torus(const Torus& torus, const Interconnect& interconnect, const RankRates& rates);
    /// Of the levels that the interconnect has. What it says of nodes holds for the first one where it says nothing of levels; where
    /// nothing is known at all, a byte between ranks of the first level takes half of the time.
    /// @throws InvalidArgument as check_levels() does
    static Links of_levels(const Interconnect& interconnect, const RankRates& rates);
    /// Of two levels: ranks of a node, which follow each other, and nodes.
    static Links of_nodes(std::int64_t ranks_per_node, std::int64_t nodes, Interconnect interconnect, const RankRates& rates);

    /// @param among  dimensions of the unfolded torus
    Use use(Dimensions among) const;
    double cost(Dimensions among) const;
    /// A bound from below of the cost of what a rank receives, however it comes.
    double least_cost() const;

    /// A stage of a gather: along dimensions that were one before the torus was unfolded.
    struct Stage {
        Dimensions along = 0;
        RelayWay way = RelayWay::direct;
        bool operator==(const Stage&) const = default;
    };
    /// A way to exchange messages.
    struct Way {
        double latency = 0;         ///< seconds on the way of a message on average: while far ranks wait, links of near ones carry bytes
        double least = 0;           ///< seconds, however little is moved: to the farthest rank
        double cost = 1;            ///< of a byte that a rank receives, as in Use
        double busiest = 0;         ///< bytes on the busiest link for each byte that a rank receives
        double hops = 0;            ///< links that such a byte passes
        std::vector<Stage> stages;  ///< none: each message goes straight to its rank
        double messages = 0;        ///< that a rank sends straight to others, all that differ from it along the dimensions
        double of_messages = 0;     ///< seconds of them, in latency and least
        /// @param sending  seconds in which a rank sends as many bytes as each of them receives
        /// @param sent     messages, where only some of the ranks get one
        double seconds(double sending, double sent) const {
            const double fewer = sent < messages ? of_messages * (1 - sent / messages) : 0;
            return std::max(least, latency + cost * sending) - fewer;
        }
    };
    /// Ways for ranks that differ along some dimensions to gather what all of them have, or to scatter sums; the first is the direct one.
    /// Of the others, those that are the best for some number of bytes.
    const std::vector<Way>& gathers(Dimensions among) const;
    /// The only way of other exchanges.
    const std::vector<Way>& exchange(Dimensions among) const;
    /// That of messages which do not follow the dimensions: of a grid that leaves ranks out.
    const std::vector<Way>& irregular() const;
    /// Dimensions of the torus before it was unfolded, of which some are.
    int lines_of(Dimensions among) const;
    /// Of few numbers that all ranks reduce, doubling what they know with a partner in each step.
    double reduction_seconds() const;

private:
    /// A dimension before it was unfolded; or a level.
    struct Line {
        std::vector<std::int64_t> factors;
        int first = 0;        // dimension of the unfolded torus
        double dearness = 1;  // of a byte on a link; of levels: that leaves one of those that are joined, in the first: that a rank sends
        double between = 0;   // of levels: of a byte from each rank of one to another one
        std::int64_t length() const;
        Dimensions all() const { return ((Dimensions{1} << factors.size()) - 1) << first; }
    };
    /// A stage as it is priced.
    struct Passing {
        std::vector<Stage> stages;
        double ranks = 1;  // that exchange
        double latency = 0, least = 0;
        double cost = 0, busiest = 0, hops = 0;  // of a byte that each of them has before, for all that it becomes
    };

    template <class F>
    static void for_each_base(const Line& line, Dimensions factors, F&& f);
    Use on_line(const Line& line, Dimensions factors) const;
    Use passed_on_line(const Line& line, Dimensions factors) const;
    Use through_levels(Dimensions among) const;
    static double up_and_down(std::size_t level) { return 2 * static_cast<double>(level); }  // links
    double dearness(const Line& line) const;
    Way direct(Dimensions among) const;
    double group(Dimensions among) const;
    double farthest(const Line& line, Dimensions factors) const;
    Passing pass_directly(Dimensions along) const;
    static void append(Passing& before, const Passing& then, bool on_one_line);
    std::vector<Passing> passings(const Line& line, Dimensions along) const;
    void add_staged(const std::vector<const Line*>& order, Dimensions among, std::vector<Way>& ways) const;
    void add_line(std::int64_t length, double dearness);
    Dimensions all() const { return (Dimensions{1} << lengths_.size()) - 1; }

    std::vector<Line> lines_;
    std::vector<std::int64_t> lengths_;  // unfolded
    bool is_torus_ = true;
    double link_seconds_ = 0, message_seconds_ = 0;
    std::optional<double> on_node_message_seconds_;
    mutable std::unordered_map<Dimensions, Use> known_;
    mutable std::unordered_map<Dimensions, std::vector<Way>> gathers_, exchanges_;
    mutable std::vector<Way> irregular_;
};

/// The shape of a machine, and its links if there are any to tell apart.
struct Topology {
    Torus torus;
    std::shared_ptr<const Links> links;  ///< null: every rank is equally far from every other
};

/// @param given   shape that the user names; without lengths: none
/// @param ranks_per_node  detected; 1: unknown
Topology topology_of(std::int64_t ranks, const Torus& given, std::int64_t ranks_per_node, const Interconnect& interconnect,
                     const RankRates& rates);

}  // namespace arges
