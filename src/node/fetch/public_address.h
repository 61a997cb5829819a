#pragma once
// Which addresses belong to the public internet.

#include <boost/asio/ip/address.hpp>

namespace gw::node {

// False for loopback, link-local, private, shared, multicast, documentation and reserved addresses, and for IPv6 addresses that contain an
// IPv4 address of that kind: a URL must not lead the daemon to machines that only this machine can reach.
bool is_public(const boost::asio::ip::address& address);

}  // namespace gw::node
