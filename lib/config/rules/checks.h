// What is wrong with a text that has a form of its own: an address, a URL, a topic. Those named check_ return
// the reason, or an empty string when the text is right. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace laneway::config {

/// A port from `min` to 65535.
bool is_port(std::string_view text, unsigned min = 0);
/// host:port, [v6]:port; port 0 to 65535.
std::string check_listen(const std::string& address);
/// http:// or https:// with a host.
std::string check_url(const std::string& url);
/// What a Content-Type may be: printable ASCII.
std::string check_content_type(const std::string& type);
/// A record header that may become a request header: an HTTP token (RFC 9110, 5.6.2) that no one else sets.
std::string check_header(std::string_view name);
/// A program by its absolute path, and arguments.
std::string check_command(const std::vector<std::string>& command);
/// A name that Kafka accepts, or a pattern.
std::string check_topic(const std::string& topic);
/// A name in which {topic} stands for another; empty is right, too.
std::string check_topic_template(const std::string& text);
std::string topic_from_template(const std::string& text, const std::string& topic);
/// Names without repetition, or one pattern alone.
std::string check_topics(const std::vector<std::string>& topics);

/// A JSON pointer (RFC 6901) to something in a document; empty is right, too.
std::string check_json_pointer(const std::string& pointer);

/// The URL without what may be a secret in it: user, password and query.
std::string without_secrets(const std::string& url);
/// Whether a user stands before the host.
bool has_login(const std::string& url);
/// The same of any text that was given for a URL: nothing before its last @ is shown.
std::string refused_without_secrets(const std::string& url);

}  // namespace laneway::config
