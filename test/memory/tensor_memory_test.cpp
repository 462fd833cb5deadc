// What taking the elements of a tensor takes beside them, and that movements stay under the limit.
#include "arges/error.hpp"
#include "arges/tensor.hpp"
#include "interface/dense/tensor_state.hpp"
#include "memory/counted_memory.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace arges::test {
namespace {

class TensorMemory : public testing::Test {
protected:
    TensorMemory() { A_.fill_random(1); }
    std::int64_t most_of_all(const std::function<void()>& work) const { return world_.state()->communicator().maximum(most_held(work)); }

    World world_;
    Tensor<double> A_{world_, {160, 150, 170}, "A"};
    const std::int64_t bytes_ = A_.size() * 8;  // 33 MB
    const TensorState& state_ = *A_.state();
    const std::int64_t local_bytes_ = state_.shape().max_local_size() * 8;
};

TEST_F(TensorMemory, GatheringOnARankTakesLittleMoreThanTheResult) {
    for (std::int64_t root = 0; root < world_.size(); ++root)
        EXPECT_LE(most_of_all([&] { A_.gather_to(root); }), bytes_ + 3 * bytes_ / 4) << root;
}

TEST_F(TensorMemory, LocalPairsTakeOnlyTheResult) {
    EXPECT_LE(most_of_all([&] { A_.local_pairs(); }), 2 * local_bytes_ + bytes_ / 16);
}

TEST_F(TensorMemory, PrintingTakesNothingForWhatIsCutOff) {
    std::ostringstream text;
    EXPECT_LE(most_of_all([&] { A_.print(text, 0.6); }), bytes_ / 16);
    EXPECT_EQ(text.str(), "");
}

TEST_F(TensorMemory, MessagesOfSlicesAreCountedAndRefusedOverTheLimit) {
    if (world_.size() == 1) return;                                      // no messages
    const std::vector<std::int64_t> begin{1, 1, 1}, end{160, 150, 170};  // one on: all elements go to other ranks
    world_.reset_peak();
    const auto before = world_.memory_in_use();
    const auto part = A_.slice(begin, end);
    const auto part_bytes = world_.memory_in_use() - before, most = world_.memory_peak() - before;
    EXPECT_GE(most, part_bytes + part_bytes / 2);
    const auto limit = world_.memory_limit();
    world_.set_memory_limit(world_.memory_in_use() + part_bytes + part_bytes / 4);
    EXPECT_THROW(A_.slice(begin, end), OutOfMemory);
    EXPECT_THROW(A_.gather(), OutOfMemory);
    world_.set_memory_limit(limit);
    EXPECT_EQ(A_.slice(begin, end).norm(), part.norm());
}

}  // namespace
}  // namespace arges::test
