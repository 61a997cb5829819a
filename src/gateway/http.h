#pragma once
// HTTP as the gateway speaks it: the names of src/httpd.

#include "httpd/beast.h"

namespace gw::gateway {

namespace asio = httpd::asio;
namespace beast = httpd::beast;
namespace http = httpd::http;
using httpd::AnyStream;
using httpd::error_code;
using httpd::kAsTuple;
using httpd::Local;
using httpd::Tcp;

}  // namespace gw::gateway
