#pragma once
// The parts of Boost.Beast that are used here, in one place: they are slow to compile, and precompiled together (CMakeLists.txt).

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http.hpp>

#include "transport/asio.h"

namespace gw::httpd {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using transport::kAsTuple;

using Local = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;
using AnyStream = asio::generic::stream_protocol;  // its socket is made from one of either kind

}  // namespace gw::httpd
