/// A map that keeps what was used last.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace arges {

/// Values by key, at most `capacity` of them: for a new one the value makes room whose use() is longest ago. What is kept depends
/// on the calls of use() only, find() changes nothing.
template <class Value>
class RecentMap {
public:
    explicit RecentMap(std::size_t capacity) : capacity_(capacity) {}
    RecentMap(const RecentMap&) = delete;
    RecentMap& operator=(const RecentMap&) = delete;

    /// The value of a key; null: there is none.
    const Value* find(const std::string& key) const {
        const auto place = places_.find(key);
        return place == places_.end() ? nullptr : &place->second->second;
    }
    /// The value of a key, made if there is none, which now is the last to make room.
    Value& use(const std::string& key) {
        if (const auto place = places_.find(key); place != places_.end()) {
            entries_.splice(entries_.begin(), entries_, place->second);
            return entries_.front().second;
        }
        if (entries_.size() >= capacity_) {
            places_.erase(entries_.back().first);
            entries_.pop_back();
        }
        entries_.emplace_front(key, Value());
        places_.emplace(entries_.front().first, entries_.begin());
        return entries_.front().second;
    }
    void clear() {
        places_.clear();
        entries_.clear();
    }
    std::size_t size() const { return entries_.size(); }
    /// Pairs of key and value, the one used last in front.
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }

private:
    std::size_t capacity_;
    std::list<std::pair<std::string, Value>> entries_;
    std::unordered_map<std::string_view, typename std::list<std::pair<std::string, Value>>::iterator> places_;
};

}  // namespace arges
