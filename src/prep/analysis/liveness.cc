// Which locals a frame keeps at each site.
//
// Problem: a local that is pushed at a site is alive there, and the engine keeps it in a register or on its stack through the loop around
// it. Saving everything at every site makes tight loops slow although they never stop. Saving exactly the live locals at every site gives
// each site its own exit code and multiplies the size of the module.
//
// Solution: the sites inside one loop share a save set, the union of the locals live at each of them, and one exit. A tight loop has one
// site, its poll, and then the set is exact.
//
// The analysis is the usual backward data flow over a structured body, repeated until nothing grows. One addition makes it sound: a local
// that is in the set of a site counts as used at that site, even if it is dead there, because its value is pushed. Otherwise the bytes of a
// frame would depend on what the engine left in a dead local, and two images of the same state would differ.

#include "prep/analysis/liveness.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/check.h"

namespace gw::prep {
namespace {

class LocalSetBits {
 public:
  explicit LocalSetBits(std::size_t locals) : words_((locals + 63) / 64) {}
  void add(Local l) { words_[l / 64] |= bit(l); }
  void remove(Local l) { words_[l / 64] &= ~bit(l); }
  bool has(Local l) const { return (words_[l / 64] & bit(l)) != 0; }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  // True if anything was new.
  bool merge(const LocalSetBits& other) {
    bool grew = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      grew |= (other.words_[i] & ~words_[i]) != 0;
      words_[i] |= other.words_[i];
    }
    return grew;
  }

 private:
  static std::uint64_t bit(Local l) { return std::uint64_t{1} << (l % 64); }
  std::vector<std::uint64_t> words_;
};

class SavePlanner {
 public:
  SavePlanner(const FunctionDraft& draft, const SiteRules& rules) : draft_(draft), rules_(rules), sites_map_(rules, draft.body) {
    collect(draft.body, regions_++);
    assign_sets();
  }

  SavePlan run() {
    do {
      grew_ = false;
      LocalSetBits live(draft_.locals.size());
      flow(draft_.body, live);
    } while (grew_);
    return finish();
  }

 private:
  unsigned new_set() {
    sets_.emplace_back(draft_.locals.size());
    return static_cast<unsigned>(sets_.size() - 1);
  }

  // Numbers the sites in the order of the text. A region is the inside of one loop, without the loops in it.
  void collect(Expr e, unsigned region) {
    if (!sites_map_.contains(e)) return;
    Expr call = is(e, Node::local_set) || is(e, Node::drop) ? child_at(e, 0) : e;
    const SiteKind kind = rules_.kind_of(call);
    if (kind == SiteKind::none) {
      const unsigned inner = is(e, Node::loop) ? regions_++ : region;
      for_each_child(e, [&](Expr child) { collect(child, inner); });
      return;
    }
    Site site{e, call, kind, static_cast<unsigned>(plan_.sites.size() + 1), 0, std::nullopt};
    if (is(e, Node::local_set)) site.result = BinaryenLocalSetGetIndex(e);
    by_call_[call] = plan_.sites.size();
    plan_.sites.push_back(site);
    region_of_.push_back(region);
  }

  void assign_sets() {
    std::map<unsigned, unsigned> shared;  // by region
    for (std::size_t i = 0; i < plan_.sites.size(); ++i)
      if (plan_.sites[i].kind == SiteKind::call && !shared.contains(region_of_[i])) shared[region_of_[i]] = new_set();
    for (std::size_t i = 0; i < plan_.sites.size(); ++i) {
      auto it = shared.find(region_of_[i]);
      plan_.sites[i].save_set = it != shared.end() ? it->second : new_set();
    }
  }

  // Backwards: `live` holds what is live after `e`, and then what is live before it.
  void flow(Expr e, LocalSetBits& live) {
    switch (node_of(e)) {
      case Node::block:
        if (const char* label = BinaryenBlockGetName(e)) labels_.insert_or_assign(label, live);
        flow_children(e, live);
        return;
      case Node::loop:
        return flow_loop(e, live);
      case Node::if_else: {
        LocalSetBits otherwise = live;
        flow(BinaryenIfGetIfTrue(e), live);
        if (Expr arm = BinaryenIfGetIfFalse(e)) flow(arm, otherwise);
        live.merge(otherwise);
        flow(BinaryenIfGetCondition(e), live);
        return;
      }
      case Node::br:
      case Node::br_table:
        if (!is(e, Node::br) || !BinaryenBreakGetCondition(e)) live.clear();
        for (const char* target : branch_targets(e))
          if (auto it = labels_.find(std::string_view(target)); it != labels_.end()) live.merge(it->second);
        flow_children(e, live);
        return;
      case Node::ret:
      case Node::unreachable:
        live.clear();
        flow_children(e, live);
        return;
      case Node::local_set:
        live.remove(BinaryenLocalSetGetIndex(e));
        flow_children(e, live);
        return;
      case Node::local_get:
        live.add(BinaryenLocalGetGetIndex(e));
        return;
      case Node::call:
      case Node::call_indirect:
        return flow_call(e, live);
      default:
        flow_children(e, live);
    }
  }

  void flow_children(Expr e, LocalSetBits& live) {
    for (unsigned i = child_count(e); i-- > 0;)
      if (Expr child = child_at(e, i)) flow(child, live);
  }

  void flow_loop(Expr loop, LocalSetBits& live) {
    const char* label = BinaryenLoopGetName(loop);
    if (!label) return flow(BinaryenLoopGetBody(loop), live);
    const LocalSetBits after = live;
    LocalSetBits& at_header = loop_live_.try_emplace(loop, draft_.locals.size()).first->second;
    do {
      labels_.insert_or_assign(label, at_header);
      live = after;
      flow(BinaryenLoopGetBody(loop), live);
    } while (at_header.merge(live));
  }

  void flow_call(Expr call, LocalSetBits& live) {
    auto it = by_call_.find(call);
    if (it == by_call_.end()) return flow_children(call, live);
    const Site& site = plan_.sites[it->second];
    LocalSetBits& saved = sets_[site.save_set];
    if (site.kind == SiteKind::call) {
      if (is(call, Node::call_indirect) && is(BinaryenCallIndirectGetTarget(call), Node::local_get))
        live.add(BinaryenLocalGetGetIndex(BinaryenCallIndirectGetTarget(call)));
      grew_ |= saved.merge(live);
      live.merge(saved);
      if (site.result) live.remove(*site.result);
      flow_children(call, live);
    } else {  // left before the call, which is made after the rewind
      flow_children(call, live);
      grew_ |= saved.merge(live);
      live.merge(saved);
    }
  }

  SavePlan finish() {
    plan_.sets.resize(sets_.size());
    for (std::size_t i = 0; i < sets_.size(); ++i)
      for (Local l = 0; l < draft_.locals.size(); ++l)
        if (sets_[i].has(l)) plan_.sets[i].push_back(l);
    return std::move(plan_);
  }

  const FunctionDraft& draft_;
  const SiteRules& rules_;
  SiteMap sites_map_;
  SavePlan plan_;
  std::unordered_map<Expr, std::size_t> by_call_;
  std::vector<unsigned> region_of_;  // by site
  unsigned regions_ = 0;
  std::vector<LocalSetBits> sets_;
  std::map<std::string, LocalSetBits, std::less<>> labels_;  // live at the target of a branch to the label
  std::unordered_map<Expr, LocalSetBits> loop_live_;
  bool grew_ = false;
};

}  // namespace

SavePlan plan_saves(const FunctionDraft& draft, const SiteRules& rules) { return SavePlanner(draft, rules).run(); }

}  // namespace gw::prep
