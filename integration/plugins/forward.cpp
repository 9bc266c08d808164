// Posts each record to the web service of downstream.py, so that a service whose work is a plugin has the
// same witness as a service that posts the records itself: {"url": …, "authority": a file of certificates}.
#include <curl/curl.h>
#include <laneway/plugin.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace {

struct Free {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};

void add(std::unique_ptr<curl_slist, Free>& headers, const std::string& name, std::string_view value) {
  const auto line = name + ": " + std::string(value);
  headers.reset(curl_slist_append(headers.release(), line.c_str()));
}

std::size_t ignore(char*, std::size_t size, std::size_t count, void*) { return size * count; }

int stop_if_asked(void* record, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const laneway::Record*>(record)->stop_requested() ? 1 : 0;
}

class Forward final : public laneway::RecordPlugin {
 public:
  Forward(laneway::Host, std::string_view config) {
    const auto settings = nlohmann::json::parse(config);
    url_ = settings.at("url");
    authority_ = settings.at("authority");
  }

  laneway::Answer handle(const laneway::Record& record) override {
    // With the connection, which is used again.
    thread_local const std::unique_ptr<CURL, Free> handle(curl_easy_init());
    const auto status = post(handle.get(), record);
    if (status == 204) return laneway::Answer::done();
    const auto reason = "HTTP " + std::to_string(status);
    if (status == 422) return laneway::Answer::reject(reason);
    return status == 0 || status == 503 ? laneway::Answer::unavailable(reason)
                                        : laneway::Answer::retry(reason);
  }

 private:
  /// The status; 0 if there is none.
  long post(CURL* curl, const laneway::Record& record) const {
    std::unique_ptr<curl_slist, Free> headers;
    add(headers, "kafka-topic", record.topic());
    add(headers, "kafka-partition", std::to_string(record.partition()));
    add(headers, "kafka-offset", std::to_string(record.offset()));
    add(headers, "kafka-key", record.key().value_or(""));
    add(headers, "laneway-attempt", std::to_string(record.attempt()));
    const auto value = record.value().value_or("");
    curl_easy_setopt(curl, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(curl, CURLOPT_CAINFO, authority_.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, value.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(value.size()));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, stop_if_asked);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &record);
    if (curl_easy_perform(curl) != CURLE_OK) return 0;
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

  std::string url_;
  std::string authority_;
};

}  // namespace

LANEWAY_PLUGIN("forward", "1.0", Forward)
