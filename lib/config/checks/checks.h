// Checks of texts that have a form: an address, a URL, a topic. The functions named check_ return the reason
// why the text is wrong, or an empty string if it is right. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::config {

/// A port from `min` to 65535.
bool is_port(std::string_view text, unsigned min = 0);
/// Whether the text has only characters of host names and IP addresses; IPv6 may be in brackets.
bool is_host(std::string_view text);
/// host:port, [v6]:port; port 0 to 65535.
std::string check_listen(const std::string& address);
/// The part of a URL between "://" and the path; likewise of HOST:PORT, which has no scheme.
std::string authority_of(const std::string& url);
/// A URL with http:// or https:// and a host.
std::string check_url(const std::string& url);
/// A Content-Type: printable ASCII.
std::string check_content_type(const std::string& type);
/// The name of a record header that may become a request header: an HTTP token (RFC 9110, 5.6.2) that neither
/// laneway nor HTTP sets.
std::string check_header(std::string_view name);
/// A program and its arguments. Whether the program exists is not checked here.
std::string check_command(const std::vector<std::string>& command);
/// A name that Kafka accepts, or a pattern.
std::string check_topic(const std::string& topic);
/// The same for a topic or pattern that the service consumes.
std::string check_consumed_topic(const std::string& topic);
/// A name in which {topic} stands for another name; empty is right, too.
std::string check_topic_template(const std::string& text);
std::string topic_from_template(const std::string& text, const std::string& topic);
/// The topic for which topic_from_template() returns `name`; empty if that is every topic, nullopt if none.
std::optional<std::string> topic_of_template(const std::string& text, const std::string& name);
/// Names without repetition, or a single pattern.
std::string check_topics(const std::vector<std::string>& topics);
/// Names or patterns without repetition.
std::string check_distinct(const std::vector<std::string>& topics);

/// A JSON pointer (RFC 6901); empty is right, too.
std::string check_json_pointer(const std::string& pointer);

/// The URL without user, password and query, which may be secret.
std::string without_secrets(const std::string& url);
/// Whether the URL has a user before the host.
bool has_login(const std::string& url);
/// The same for any text that was given as a URL: hides everything before the last @.
std::string refused_without_secrets(const std::string& url);

}  // namespace laneway::config
