#include "wire/messages/protobuf_log.h"

#include <google/protobuf/stubs/logging.h>

#include "base/log.h"

namespace gw::wire {
namespace {

void log_line(google::protobuf::LogLevel, const char*, int, const std::string& text) {
  log::debug("wire", "the message library has refused something", kv("text", text));
}

}  // namespace

void log_protobuf_quietly() { google::protobuf::SetLogHandler(log_line); }

}  // namespace gw::wire
