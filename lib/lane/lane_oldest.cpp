// The oldest record that is not done: see attempts/oldest_watch.h.
#include "lane/lane.h"

namespace laneway::lane {

void Lane::tick_oldest(TimePoint now) {
  attempts_.forget_wishes();
  const auto outlived = oldest_.tick(attempts_.waiting(), now);
  if (!outlived) return;
  if (outlived->is_new) oldest_.report(detail(now).oldest.value_or(OldestRecord{}), now);
  if (auto item = attempts_.give_up_waiting(outlived->sequence, outlived->why)) run_alone(std::move(*item));
}

}  // namespace laneway::lane
