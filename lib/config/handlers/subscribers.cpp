#include "config/handlers/subscribers.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/base64.h"
#include "config/checks/checks.h"
#include "config/text.h"
#include "config/yaml/document.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

constexpr std::size_t longest_name = 100;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && is_word(text, "._-");
}

/// Reads the parts of the file; the first problem ends the reading.
class SubscribersReader {
 public:
  explicit SubscribersReader(std::string path) : path_(std::move(path)) {}

  Result<std::vector<Subscriber>> read() {
    const auto text = read_file(path_);
    if (!text) return Error{text.error().kind, path_ + ": " + text.error().message, text.error().hint};
    const auto document = parse_document(*text);
    if (!document.faults.empty()) {
      const auto& fault = document.faults.front();
      return error(fault.position, (fault.key.empty() ? "" : fault.key + ": ") + fault.what, fault.hint);
    }
    std::vector<Subscriber> subscribers;
    // An editor and cp empty a file before they write it: that must not look like a list of nobody.
    if (document.root.is_null()) return error({}, "the file is empty", "write [] for no subscribers");
    if (!document.root.is_list())
      return error(document.root.position, "expected a list of subscribers", "begin each with - name:");
    for (const Node& node : document.root.items)
      if (!read(node, subscribers.emplace_back())) return *problem_;
    if (subscribers.size() > most_subscribers)
      return error({}, "more than " + std::to_string(most_subscribers) + " subscribers",
                   "use several topics");
    return subscribers;
  }

 private:
  Error error(Position position, const std::string& what, std::string hint) const {
    const auto line = position.line > 0 ? ":" + std::to_string(position.line) : "";
    return wrong_value(path_ + line + ": " + what, std::move(hint));
  }
  bool refuse(const Node& node, const std::string& what, std::string hint = "") {
    problem_ = error(node.position, what, std::move(hint));
    return false;
  }

  bool read(const Node& node, Subscriber& subscriber) {
    if (!node.is_map()) return refuse(node, "expected a subscriber: name, url, secret, …");
    for (const Entry& entry : node.entries)
      if (!read(entry, subscriber)) return false;
    if (subscriber.name.empty()) return refuse(node, "the subscriber has no name");
    if (subscriber.url.empty()) return refuse(node, "the subscriber " + subscriber.name + " has no url");
    return names_.insert(subscriber.name).second ||
           refuse(node, "two subscribers have the name " + subscriber.name);
  }

  bool read(const Entry& entry, Subscriber& subscriber) {
    if (entry.key == "events") return read_events(entry.value, subscriber);
    if (entry.key == "secret") return read_secrets(entry.value, subscriber);
    if (!entry.value.is_scalar()) return refuse(entry.value, entry.key + ": expected a single value");
    if (entry.key == "name") return read_name(entry.value, subscriber);
    if (entry.key == "url") return read_url(entry.value, subscriber);
    if (entry.key == "secret_file") return read_secret_file(entry.value, subscriber);
    if (entry.key == "enabled") return read_enabled(entry.value, subscriber);
    return refuse(key_node(entry), "the key " + printable(entry.key) + " does not exist",
                  "the keys are name, url, secret, secret_file, events and enabled");
  }

  bool read_name(const Node& node, Subscriber& subscriber) {
    if (!is_name(node.text))
      return refuse(node, "name: " + printable(node.text) + " is not a name",
                    "use up to 100 letters, digits, dots, hyphens and underscores");
    subscriber.name = node.text;
    return true;
  }
  bool read_url(const Node& node, Subscriber& subscriber) {
    if (has_login(node.text)) return refuse(node, "url: it contains a user or a password", "remove them");
    if (const auto what = check_url(node.text); !what.empty()) return refuse(node, "url: " + what);
    subscriber.url = node.text;
    return true;
  }
  bool read_enabled(const Node& node, Subscriber& subscriber) {
    if (node.text != "true" && node.text != "false") return refuse(node, "enabled: expected true or false");
    subscriber.enabled = node.text == "true";
    return true;
  }
  bool read_events(const Node& node, Subscriber& subscriber) {
    if (!node.is_list() && !node.is_scalar()) return refuse(node, "events: expected a list of event types");
    for (const Node& item : node.is_list() ? node.items : std::vector<Node>{node}) {
      if (!item.is_scalar() || item.text.empty() || item.text.find('*') < item.text.size() - 1)
        return refuse(item, "events: expected an event type, which may end with *");
      subscriber.events.push_back(item.text);
    }
    return !subscriber.events.empty() ||
           refuse(node, "events: the list is empty", "set enabled: false instead");
  }
  bool only_one(const Node& node, const Subscriber& subscriber) {
    return subscriber.secrets.empty() || refuse(node, "the subscriber has both secret and secret_file",
                                                "to sign with several secrets, make secret a list");
  }
  bool read_secrets(const Node& node, Subscriber& subscriber) {
    if (!only_one(node, subscriber)) return false;
    if (node.is_list() && node.items.empty())
      return refuse(node, "secret: the list is empty", "without the key, requests are not signed");
    if (const auto status = check_owners_only(path_); !status)
      return refuse(node, "secret: " + status.error().message, status.error().hint);
    for (const Node& item : node.is_list() ? node.items : std::vector<Node>{node})
      if (!add_secret(node, item.text, subscriber)) return false;
    return true;
  }
  bool read_secret_file(const Node& node, Subscriber& subscriber) {
    if (!only_one(node, subscriber)) return false;
    const auto file = std::filesystem::path(path_).parent_path() / node.text;
    const auto text = read_secret(file);
    if (!text) return refuse(node, "secret_file: " + text.error().message, text.error().hint);
    return add_secret(node, *text, subscriber);
  }
  bool add_secret(const Node& node, const std::string& text, Subscriber& subscriber) {
    auto secret = parse_webhook_secret(text);
    if (!secret) return refuse(node, "secret: " + secret.error().message, secret.error().hint);
    subscriber.secrets.push_back(std::move(secret).value());
    return true;
  }

  const std::string path_;
  std::set<std::string> names_;
  std::optional<Error> problem_;
};

}  // namespace

bool Subscriber::wants(std::optional<std::string_view> event) const {
  if (events.empty()) return true;
  return event && std::any_of(events.begin(), events.end(), [&](const std::string& pattern) {
           if (!pattern.ends_with('*')) return *event == pattern;
           return event->starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
         });
}

Result<std::string> parse_webhook_secret(std::string_view text) {
  constexpr std::string_view prefix = "whsec_";
  constexpr std::size_t shortest = 24;
  constexpr std::size_t longest = 64;
  const auto key = text.starts_with(prefix) ? decode_base64(text.substr(prefix.size())) : std::nullopt;
  if (key && key->size() >= shortest && key->size() <= longest) return *key;
  return wrong_value(
      key ? "it has " + std::to_string(key->size()) + " bytes, not 24 to 64" : "it is not whsec_ and base64",
      "create a secret with: echo whsec_$(openssl rand -base64 32)");
}

Result<std::vector<Subscriber>> read_subscribers(const std::string& path) {
  return SubscribersReader(path).read();
}

}  // namespace laneway::config
