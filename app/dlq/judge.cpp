#include "app/cli/terminal.h"
#include "app/dlq/redrive.h"
#include "kafka/produce/producer.h"

namespace laneway::dlq {
namespace {

Judgement left(std::string why) { return {{}, std::move(why)}; }

std::string line(std::uint64_t count, const std::string& what) {
  return cli::right(std::to_string(count), 10) + "  " + what + '\n';
}

std::string lines(const std::map<std::string, std::uint64_t>& counts, const char* what) {
  std::string out;
  for (const auto& [name, count] : counts) out += line(count, what + delivery::clean_text(name, 512));
  return out;
}

}  // namespace

Judgement judge(const Letter& letter, const Options& options, const Targets& targets) {
  if (!options.filter.lets_through(letter)) return left("not selected by the filter");
  if (!letter.description) return left("not a dead letter: no headers name its origin");
  const auto& about = *letter.description;
  if (about.cut)
    return left(
        "incomplete: the record was cut for the dead-letter topic; the original topic has the whole record");
  if (about.redrives >= options.max_redrives)
    return left("sent back " + std::to_string(options.max_redrives) + " times or more (see --max-redrives)");
  if (options.to.empty() && about.topic.empty()) return left("its origin is unknown; --to TOPIC sends it");
  const std::string& topic = options.to.empty() ? about.topic : options.to;
  const auto target = targets.find(topic);
  if (target == targets.end())
    return left("came from " + topic + ", which is not a topic of the configuration; --to TOPIC sends it");
  if (target->second.partitions == 0) return left(target->second.trouble);
  const auto oldest = target->second.oldest;
  if (oldest && !options.present_time && timestamp_of(letter) >= 0 && timestamp_of(letter) < *oldest)
    return left("older than the records that " + topic +
                " keeps (retention.ms); --present-time sends it with a new time");
  const bool same = options.to.empty() && about.partition >= 0 && about.partition < target->second.partitions;
  return {Destination{topic, same ? about.partition : kafka::any_partition}, {}};
}

std::string summary_text(const Summary& summary, const Options& options) {
  std::string out = lines(summary.sent, options.yes ? "sent to " : "would be sent to ");
  out += lines(summary.left, "left: ");
  if (!options.yes && summary.sent_before > 0)
    out += line(summary.sent_before, "already sent back by an earlier redrive");
  std::uint64_t sent = 0;
  for (const auto& [topic, count] : summary.sent) sent += count;
  if (summary.taken_over)
    return out +
           "Another redrive of these dead letters took over and will continue. If you did not start another "
           "redrive, the brokers were unreachable: run the same command again to continue.\n";
  if (summary.interrupted && options.yes)
    return out + "stopped before the end; run the same command again to continue\n";
  if (summary.interrupted) return out + "stopped before the end\n";
  if (!options.yes && sent > 0) out += "nothing was sent; add --yes to send\n";
  if (sent == 0) out += "nothing to send\n";
  return out;
}

}  // namespace laneway::dlq
