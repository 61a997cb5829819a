#pragma once
// The parts of Boost.Asio that transport uses, in one place: they are slow to compile, and precompiled together (CMakeLists.txt).

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace gw::transport {

namespace asio = boost::asio;
using boost::system::error_code;

// co_await operation(..., kAsTuple) gives the error code as a value: nothing is thrown.
inline constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

}  // namespace gw::transport
