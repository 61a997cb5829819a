#include "gateway/web/web_gateway.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <thread>

#include "gateway/test/fake_control.h"
#include "gateway/test/fake_tickets.h"
#include "gateway/web/web_address.h"
#include "os/files/file.h"
#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::gateway {
namespace {

const WebPage kTestPages[] = {
    {"/index.html", "text/html; charset=utf-8", "\"1\"", WebPage::Life::checked, "<p>plain</p>", "packed"},
    {"/assets/a-12345678.js", "text/javascript", "\"2\"", WebPage::Life::lasting, "run()", "run packed"},
};
const WebTokens::Time kNow{std::chrono::seconds(1'700'000'000)};

// A daemon's web gateway with a fake peer behind it, at a real port.
class AtTheWeb : public testing::Test {
 protected:
  void start(WebGateway::Config config = {}) {
    config.listen = "127.0.0.1:0";
    config.tokens = folder.path() / "tokens";
    config.pages = kTestPages;
    gateway = WebGateway::open(io, control, tickets, config).value();
    host = gateway->access().address().substr(7);
    manager = gateway->access().tokens().issue(Scope::manage, Api::now()).value();
    watcher = gateway->access().tokens().issue(Scope::watch, Api::now()).value();
    control.add(kWebJob);
    thread = std::thread([this] { io.run(); });
  }
  void TearDown() override {
    if (!gateway) return;
    asio::post(io, [this] { stopping.spawn("stop", gateway->stop()); });
    thread.join();
    gateway.reset();
  }

  os::UniqueFd connect() {
    os::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(gateway->port());
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where), 0);
    return socket;
  }
  std::string read_to_end(const os::UniqueFd& socket) {
    std::string answer;
    char piece[4096];
    for (ssize_t got; (got = ::recv(socket.get(), piece, sizeof piece, 0)) > 0;) answer.append(piece, static_cast<std::size_t>(got));
    return answer;
  }
  // The answer to one request; `headers` are whole lines, and the host is ours unless they have one.
  std::string ask(const std::string& line, std::string headers = "") {
    if (headers.find("Host:") == std::string::npos) headers += "Host: " + host + "\r\n";
    const os::UniqueFd socket = connect();
    const std::string request = line + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n";
    EXPECT_TRUE(os::write_fully(socket.get(), as_bytes(request)));
    return read_to_end(socket);
  }
  static std::string bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }
  static std::string status(const std::string& answer) { return answer.substr(0, std::min<std::size_t>(answer.size(), 12)); }

  os::TempDir folder = os::TempDir::make().value();
  asio::io_context io{1};
  transport::TaskGroup stopping{io.get_executor()};
  FakeControl control{io};
  FakeTickets tickets{io};
  std::unique_ptr<WebGateway> gateway;
  std::thread thread;
  std::string host, manager, watcher;
  const job::JobId kWebJob{sha256(as_bytes("a job"))};
};

TEST_F(AtTheWeb, PagesNeedNoTokenAndHaveAllSecurityHeaders) {
  start();
  const std::string page = ask("GET /");
  EXPECT_EQ(status(page), "HTTP/1.1 200");
  EXPECT_TRUE(page.ends_with("\r\n\r\n<p>plain</p>")) << page;
  for (const char* header : {"Content-Security-Policy: default-src 'none'; script-src 'self'", "frame-ancestors 'none'",
                             "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Embedder-Policy: require-corp",
                             "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "ETag: \"1\"", "Cache-Control: no-cache"})
    EXPECT_NE(page.find(header), std::string::npos) << header << "\n" << page;
  EXPECT_EQ(status(ask("GET /else")), "HTTP/1.1 404");
  EXPECT_EQ(status(ask("POST /")), "HTTP/1.1 405");
  EXPECT_EQ(status(ask("GET /../tokens")), "HTTP/1.1 404") << "there are no files, only the pages of the table";
}

TEST_F(AtTheWeb, PagesArePackedIfAcceptedAndNotSentTwice) {
  start();
  const std::string packed = ask("GET /assets/a-12345678.js", "Accept-Encoding: br, gzip;q=0.8\r\n");
  EXPECT_NE(packed.find("Content-Encoding: gzip"), std::string::npos) << packed;
  EXPECT_NE(packed.find("immutable"), std::string::npos);
  EXPECT_TRUE(packed.ends_with("run packed"));
  EXPECT_TRUE(ask("GET /assets/a-12345678.js", "Accept-Encoding: gzip;q=0, br\r\n").ends_with("\r\nrun()"));
  const std::string known = ask("GET /", "If-None-Match: \"1\"\r\n");
  EXPECT_EQ(status(known), "HTTP/1.1 304");
  EXPECT_TRUE(known.ends_with("\r\n\r\n"));
}

TEST_F(AtTheWeb, TheApiNeedsAToken) {
  start();
  EXPECT_EQ(status(ask("GET /v1/node")), "HTTP/1.1 401");
  EXPECT_NE(ask("GET /v1/node").find("WWW-Authenticate: Bearer"), std::string::npos);
  for (const std::string& wrong : {std::string("x"), std::string(), std::string(64, 'a'), manager.substr(1), manager + "0"}) {
    const std::string answer = ask("GET /v1/node", bearer(wrong));
    EXPECT_EQ(status(answer), "HTTP/1.1 401") << wrong;
    EXPECT_NE(answer.find("godwit web"), std::string::npos) << "it says what to do: " << answer;
  }
  EXPECT_EQ(status(ask("GET /v1/node", bearer(watcher) + bearer(manager))), "HTTP/1.1 401") << "which of them?";
  const std::string answer = ask("GET /v1/node", bearer(watcher));
  EXPECT_EQ(status(answer), "HTTP/1.1 200") << answer;
  EXPECT_NE(answer.find("nosniff"), std::string::npos);
}

TEST_F(AtTheWeb, AWatcherChangesNothing) {
  start();
  const std::string job = "/v1/jobs/" + kWebJob.hash.hex();
  for (const std::string& line :
       {"POST " + job + "/cancel", "DELETE " + job, std::string("POST /v1/stop"), std::string("GET /v1/web/tokens"),
        std::string("POST /v1/web/tokens?scope=manage"), "GET " + job + "/image", "GET " + job + "/manifest"})
    EXPECT_EQ(status(ask(line, bearer(watcher))), "HTTP/1.1 403") << line;
  EXPECT_FALSE(control.stopped);
  EXPECT_NE(ask("GET /v1/web", bearer(watcher)).find("\"scope\":\"watch\""), std::string::npos);
  EXPECT_NE(ask("GET /v1/web", bearer(manager)).find("\"scope\":\"manage\""), std::string::npos);
  EXPECT_EQ(status(ask("POST " + job + "/cancel", bearer(manager))), "HTTP/1.1 200");
}

TEST_F(AtTheWeb, ItWorksUnderItsOwnNamesOnly) {
  start();
  const std::string port = std::to_string(gateway->port());
  EXPECT_EQ(status(ask("GET /", "Host: localhost:" + port + "\r\n")), "HTTP/1.1 200");
  for (const std::string& name : {std::string("rebound.example:") + port, std::string("127.0.0.1"), std::string("127.0.0.1:1"),
                                  std::string(""), std::string("localhost.rebound.example:") + port})
    for (const char* path : {"GET /", "GET /v1/node"}) {
      const std::string answer = ask(path, "Host: " + name + "\r\n" + bearer(manager));
      EXPECT_EQ(status(answer), "HTTP/1.1 421") << name;
    }
  EXPECT_EQ(status(ask("GET /", "Host: " + host + "\r\nHost: " + host + "\r\n")), "HTTP/1.1 421");
}

TEST_F(AtTheWeb, PagesOfOtherSitesMayNotAsk) {
  start();
  const auto from = [&](const std::string& headers) { return status(ask("GET /v1/node", headers + bearer(manager))); };
  EXPECT_EQ(from("Origin: http://" + host + "\r\n"), "HTTP/1.1 200");
  EXPECT_EQ(from("Origin: https://other.example\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(from("Origin: null\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(from("Origin: http://localhost:1\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(from("Origin: http://" + host + "\r\nOrigin: http://" + host + "\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(from("Sec-Fetch-Site: cross-site\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(from("Sec-Fetch-Site: same-site\r\n"), "HTTP/1.1 403") << "another port of this machine";
  EXPECT_EQ(from("Sec-Fetch-Site: same-origin\r\n"), "HTTP/1.1 200");
  EXPECT_EQ(status(ask("GET /", "Sec-Fetch-Site: cross-site\r\n")), "HTTP/1.1 200") << "a link to the dashboard may be anywhere";
  EXPECT_EQ(status(ask("OPTIONS /v1/node", "Origin: https://other.example\r\nAccess-Control-Request-Headers: authorization\r\n")),
            "HTTP/1.1 403");
}

TEST_F(AtTheWeb, ARevokedTokenIsRefused) {
  start();
  const std::string id = WebTokens::id_of(watcher).hex();
  EXPECT_NE(ask("GET /v1/web/tokens", bearer(manager)).find(id), std::string::npos);
  EXPECT_EQ(status(ask("DELETE /v1/web/tokens/" + id, bearer(manager))), "HTTP/1.1 200");
  EXPECT_EQ(status(ask("GET /v1/node", bearer(watcher))), "HTTP/1.1 401");
  EXPECT_EQ(status(ask("DELETE /v1/web/tokens/" + id, bearer(manager))), "HTTP/1.1 404");
}

TEST_F(AtTheWeb, EventsAreStreamedWithTheHeaders) {
  start();
  asio::post(io, [this] { control.end(kWebJob, 0); });
  const std::string answer = ask("GET /v1/jobs/" + kWebJob.hash.hex() + "/events", bearer(watcher));
  EXPECT_EQ(status(answer), "HTTP/1.1 200");
  EXPECT_NE(answer.find("nosniff"), std::string::npos);
  EXPECT_NE(answer.find("\"event\":\"over\""), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("0\r\n\r\n"));
}

TEST_F(AtTheWeb, LimitsHoldAsOnTheUnixSocket) {
  start({.connections = 2});
  EXPECT_EQ(status(ask("GET /", "X: " + std::string(10'000, 'x') + "\r\n")), "HTTP/1.1 431");
  EXPECT_EQ(status(ask("POST /v1/jobs", bearer(manager) + "Content-Length: 99999999\r\n")), "HTTP/1.1 413");
  EXPECT_EQ(status(ask("POST /v1/jobs", "Content-Length: 99999999\r\n")), "HTTP/1.1 401") << "no byte of it is read";
  EXPECT_EQ(status(ask("GET /", "Content-Length: 5\r\n")), "HTTP/1.1 413");
  const os::UniqueFd first = connect(), second = connect();
  EXPECT_EQ(status(ask("GET /")), "HTTP/1.1 200") << "the longest idle one gives way";
}

TEST_F(AtTheWeb, ASilentClientIsClosed) {
  start({.session = {.http = {.idle = std::chrono::milliseconds(1), .error_body = httpd::error_body}}});
  const os::UniqueFd silent = connect();
  EXPECT_EQ(read_to_end(silent), "");
}

TEST(WebAddress, IsOnThisMachine) {
  EXPECT_TRUE(check_web_address(""));
  EXPECT_TRUE(check_web_address("127.0.0.1:8080"));
  EXPECT_TRUE(check_web_address("[::1]:8080"));
  for (const char* wrong : {"0.0.0.0:7500", "[::]:7500", "10.0.0.5:7500", "192.168.1.4:80"}) {
    const Status checked = check_web_address(wrong);
    ASSERT_FALSE(checked) << wrong;
    EXPECT_NE(checked.error().detail.find("ssh -L"), std::string::npos) << checked.error().detail;
  }
  EXPECT_FALSE(check_web_address("localhost"));
  EXPECT_FALSE(check_web_address("127.0.0.1"));
}

TEST(WebTokens, OnlyTheirHashIsStored) {
  const auto folder = os::TempDir::make().value();
  const auto file = folder.path() / "tokens";
  WebTokens tokens = WebTokens::open(file);
  const std::string token = tokens.issue(Scope::watch, kNow).value();
  EXPECT_EQ(token.size(), 64u);
  const auto bytes = os::read_file(file, 1 << 20).value();
  EXPECT_EQ(as_text(bytes).find(token), std::string::npos);
  WebTokens again = WebTokens::open(file);
  EXPECT_EQ(again.use(token, kNow), Scope::watch) << "they outlive the daemon";
  EXPECT_EQ(again.use(WebTokens::id_of(token).hex(), kNow), std::nullopt) << "what is stored lets nobody in";
}

TEST(WebTokens, ExpireWhenTheyAreUnused) {
  const auto folder = os::TempDir::make().value();
  WebTokens tokens = WebTokens::open(folder.path() / "tokens");
  const std::string used = tokens.issue(Scope::manage, kNow).value(), unused = tokens.issue(Scope::manage, kNow).value();
  EXPECT_TRUE(tokens.use(used, kNow + WebTokens::kLasts / 2));
  const WebTokens::Time later = kNow + WebTokens::kLasts + std::chrono::hours(2);
  EXPECT_TRUE(WebTokens::open(folder.path() / "tokens").use(used, later)) << "its use was stored";
  EXPECT_FALSE(tokens.use(unused, later));
  ASSERT_EQ(tokens.list(later).size(), 1u);
  EXPECT_EQ(tokens.list(later).front().id, WebTokens::id_of(used));
}

TEST(WebTokens, TheLongestUnusedOneGivesWayAtTheLimit) {
  const auto folder = os::TempDir::make().value();
  WebTokens tokens = WebTokens::open(folder.path() / "tokens");
  std::vector<std::string> all;
  for (std::size_t i = 0; i <= WebTokens::kMaxTokens; ++i) {
    all.push_back(tokens.issue(Scope::manage, kNow + std::chrono::seconds(i)).value());
    if (i == 0) EXPECT_TRUE(tokens.use(all[0], kNow + std::chrono::hours(5)));
  }
  EXPECT_EQ(tokens.list(kNow).size(), WebTokens::kMaxTokens);
  EXPECT_TRUE(tokens.use(all[0], kNow + std::chrono::hours(5)));
  EXPECT_FALSE(tokens.use(all[1], kNow));
}

TEST(WebTokens, ADamagedFileLetsNobodyIn) {
  const auto folder = os::TempDir::make().value();
  const auto file = folder.path() / "tokens";
  const std::string token = WebTokens::open(file).issue(Scope::manage, kNow).value();
  const std::string good(as_text(os::read_file(file, 1 << 20).value()));
  for (const std::string& text : {good.substr(0, good.size() / 2), std::string("[]"), std::string("{\"tokens\":[1]}"),
                                  std::string("{\"tokens\":[{\"id\":\"1\",\"scope\":\"manage\",\"created_at\":1,\"used_at\":1}]}"),
                                  std::string("{\"tokens\":[{\"id\":3}]}"), std::string("\xff")}) {
    ASSERT_TRUE(os::write_file_atomic(file, as_bytes(text)));
    WebTokens tokens = WebTokens::open(file);
    EXPECT_TRUE(tokens.list(kNow).empty()) << text;
    EXPECT_FALSE(tokens.use(token, kNow));
  }
}

}  // namespace
}  // namespace gw::gateway
