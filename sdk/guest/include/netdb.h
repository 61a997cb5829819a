#ifndef GODWIT_NETDB_H
#define GODWIT_NETDB_H
/* A guest has no network: names are not found. */

#include <netinet/in.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

struct addrinfo {
  int ai_flags, ai_family, ai_socktype, ai_protocol;
  socklen_t ai_addrlen;
  struct sockaddr* ai_addr;
  char* ai_canonname;
  struct addrinfo* ai_next;
};

struct hostent {
  char* h_name;
  char** h_aliases;
  int h_addrtype, h_length;
  char** h_addr_list;
};
#define h_addr h_addr_list[0]

#define AI_PASSIVE 1
#define AI_CANONNAME 2
#define AI_NUMERICHOST 4
#define AI_NUMERICSERV 0x400
#define NI_NUMERICHOST 1
#define NI_NUMERICSERV 2
#define NI_MAXHOST 255
#define NI_MAXSERV 32
#define EAI_NONAME (-2)
#define EAI_AGAIN (-3)
#define EAI_FAIL (-4)
#define EAI_FAMILY (-6)
#define EAI_MEMORY (-10)
#define EAI_SYSTEM (-11)
#define HOST_NOT_FOUND 1

int getaddrinfo(const char*, const char*, const struct addrinfo*, struct addrinfo**); /* EAI_FAIL */
void freeaddrinfo(struct addrinfo*);
const char* gai_strerror(int);
struct hostent* gethostbyname(const char*); /* NULL */

#ifdef __cplusplus
}
#endif

#endif
