import assert from "node:assert/strict";
import { test } from "node:test";
import { saysUnreached, wantedHosts } from "../../../src/core/cage/wanted_hosts.ts";

/** The hosts that a text names, as `host:port`. */
const wanted = (...texts: string[]): string[] => wantedHosts(texts).map(({ host, port }) => `${host}:${port}`);

/** Errors of clients in a network namespace without any interface but loopback, as they print them. */
const SAID: readonly (readonly [client: string, said: string, host: string])[] = [
  ["Node, Bun, Deno: lookup", "getaddrinfo EAI_AGAIN api.github.com", "api.github.com:null"],
  ["Node: lookup", "getaddrinfo ENOTFOUND db", "db:null"],
  ["node:dns", "queryA ECONNREFUSED api.github.com", "api.github.com:null"],
  ["Node: IPv4", "connect ECONNREFUSED 127.0.0.1:9211", "127.0.0.1:9211"],
  ["Node: unreachable", "connect ENETUNREACH 10.1.2.3:80 - Local (0.0.0.0:0)", "10.1.2.3:80"],
  ["Node: IPv6", "connect ENETUNREACH 2001:db8::1:443 - Local (:::0)", "[2001:db8::1]:443"],
  [
    "Deno: fetch",
    "error sending request for url (https://api.github.com/x): client error (Connect): dns error: failed to lookup " +
    "address information: Temporary failure in name resolution",
    "api.github.com:443",
  ],
  [
    "Deno: fetch of an address",
    "error sending request for url (http://[::1]:9211/x): client error (Connect): tcp connect error: Connection refused",
    "[::1]:9211",
  ],
  [
    "Go: http",
    'Get "https://api.github.com/x": dial tcp: lookup api.github.com on [::1]:53: read udp [::1]:35754->[::1]:53: read: ' +
    "connection refused",
    "api.github.com:443",
  ],
  ["Go: http to a port", 'Get "http://127.0.0.1:9211/x": dial tcp 127.0.0.1:9211: connect: refused', "127.0.0.1:9211"],
  ["Go: dial", "dial tcp: lookup db.example.com on [::1]:53: read udp", "db.example.com:null"],
  ["Go: no such host", "lookup api.github.com: no such host", "api.github.com:null"],
  ["curl: lookup", "curl: (6) Could not resolve host: api.github.com", "api.github.com:null"],
  [
    "curl: address",
    "curl: (7) Failed to connect to 127.0.0.1 port 9211 after 0 ms: Couldn't connect",
    "127.0.0.1:9211",
  ],
  ["wget", "wget: unable to resolve host address ‘api.github.com’", "api.github.com:null"],
  ["git", "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com", "github.com:443"],
  ["ssh", "ssh: Could not resolve hostname github.com: Temporary failure in name resolution", "github.com:null"],
  [
    "Python: requests",
    "HTTPSConnectionPool(host='api.github.com', port=443): Max retries exceeded with url: /x (Caused by " +
    "NameResolutionError(\"HTTPSConnection(host='api.github.com', port=443): Failed to resolve 'api.github.com'\"))",
    "api.github.com:443",
  ],
  [
    "Python: urllib3",
    "<urllib3.connection.HTTPSConnection object>: Failed to resolve 'db.example.com'",
    "db.example.com:null",
  ],
  ["Python: aiohttp", "Cannot connect to host api.github.com:443 ssl:default [None]", "api.github.com:443"],
  ["Python: redis", "Error 111 connecting to 127.0.0.1:6379. Connection refused.", "127.0.0.1:6379"],
  ["libpq: lookup", 'could not translate host name "db.example.com" to address', "db.example.com:null"],
  ["libpq", 'connection to server at "localhost" (::1), port 5432 failed: Connection refused', "localhost:5432"],
  ["Ruby", "Failed to open TCP connection to api.github.com:443 (getaddrinfo: x)", "api.github.com:443"],
  ["Java", "java.net.UnknownHostException: api.github.com", "api.github.com:null"],
  ["bash", "bash: /dev/tcp/api.github.com/443: Invalid argument", "api.github.com:443"],
  ["glibc", "bash: api.github.com: Temporary failure in name resolution", "api.github.com:null"],
];

for (const [client, said, host] of SAID) {
  test(`wantedHosts() finds the host in the words of ${client}`, () => assert.deepEqual(wanted(said), [host]));
}

test("wantedHosts() takes the port of a lookup from an address beside it, and from no other", () => {
  const lookup = "getaddrinfo EAI_AGAIN api.github.com";
  assert.deepEqual(wanted("GET https://api.github.com/user", lookup), ["api.github.com:443"]);
  assert.deepEqual(wanted(`redis://api.github.com:7000: ${lookup}`), ["api.github.com:7000"]);
  assert.deepEqual(wanted("See https://docs.github.com/", lookup), ["api.github.com:null"]);
  assert.deepEqual(wanted("postgres://api.github.com/db", lookup), ["api.github.com:null"]);
});

test("wantedHosts() invents nothing: words, sockets and spellings that no grant can have are left out", () => {
  const none = [
    "fetch failed",
    "<urlopen error [Errno -3] Temporary failure in name resolution>",
    "error: Temporary failure in name resolution",
    "The lookup failed: no such key",
    "connect ENOENT /run/docker.sock",
    "connect ECONNREFUSED 127.0.0.1:99999",
    "getaddrinfo ENOTFOUND",
    "querySrv ENOTFOUND _mongodb._tcp.example.com",
    "Could not resolve host name",
    "see https://api.github.com/ for the lookup of users",
  ];
  for (const text of none) assert.deepEqual(wanted(text), [], text);
});

test("wantedHosts() looks at 16 KiB of each text", () => {
  assert.deepEqual(wanted(`${"x".repeat(16_384)} getaddrinfo EAI_AGAIN api.github.com`), []);
});

test("saysUnreached() knows an error of the network that names nobody", () => {
  const errors = [
    ...["ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH", "ECONNREFUSED: Unable", "fetch failed"],
    ...["Network is unreachable", "connection refused", "[Errno -3] Temporary failure in name resolution"],
    ...["Name or service not known", "Could not resolve host", "dns error", "no such host"],
    "Unable to connect. Is the computer able to access the url?",
  ];
  for (const text of errors) assert.equal(saysUnreached(text), true, text);
  for (const text of ["The disk is full", "No such file", "HTTP 404"]) assert.equal(saysUnreached(text), false, text);
});
