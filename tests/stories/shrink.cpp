#include "stories/shrink.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

namespace laneway::stories {
namespace {

bool same_rule(const Result& result, const std::set<std::string>& rules) {
  return std::any_of(result.breaches.begin(), result.breaches.end(),
                     [&](const Breach& breach) { return rules.contains(breach.rule); });
}

std::string text_of(const Result& result) {
  std::string text;
  for (const auto& breach : result.breaches)
    text += "\n  BREACH of \"" + breach.rule + "\": " + breach.sentence;
  return text + "\n  (" + result.figures + ")";
}

}  // namespace

std::size_t side_by_side() { return 24; }

void tell(const Story& story, const Result& result) {
  if (std::getenv("LANEWAY_TELL") == nullptr) return;
  std::printf("%s: %s", story.name.c_str(), result.figures.c_str());
  if (story.bug != Bug::none) std::printf("; planted: %s", name_of(story.bug));
  for (const auto& breach : result.breaches) std::printf("; BREACH of %s", breach.rule.c_str());
  std::printf("\n");
  std::fflush(stdout);
}

void play_all(const std::vector<Story>& stories,
              const std::function<bool(const Story&, const Result&)>& ended, const Player& player) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> goes_on{true};
  std::mutex one_at_a_time;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min(side_by_side(), stories.size()); ++i)
    threads.emplace_back([&] {
      for (auto at = next++; at < stories.size() && goes_on; at = next++) {
        const auto result = player(stories[at]);
        const std::lock_guard lock(one_at_a_time);
        if (result && goes_on && !ended(stories[at], *result)) goes_on = false;
      }
    });
  for (auto& thread : threads) thread.join();
}

Smallest shrink(const Story& story, const Result& result, Duration within, const Player& player) {
  const auto until = Deadline::in(within);
  std::set<std::string> rules;
  for (const auto& breach : result.breaches) rules.insert(breach.rule);
  Smallest smallest{story, result};
  for (bool smaller = true; smaller && !until.passed();) {
    smaller = false;
    const auto ended = [&](const Story& tried, const Result& its) {
      if (!same_rule(its, rules)) return !until.passed();
      smallest = {tried, its};
      smaller = true;
      return false;
    };
    play_all(smallest.story.smaller(), ended, player);
  }
  return smallest;
}

std::string report(const Story& story, const Result& result, Duration within) {
  const auto smallest = shrink(story, result, within);
  return story.text() + text_of(result) + "\ncut down to\n" + smallest.story.text() +
         text_of(smallest.result);
}

}  // namespace laneway::stories
