/**
 * The server that all are measured against: TLS, a small answer to any request. A process of its own, on Node whatever
 * the host runs on. Prints its port.
 *
 * @module
 */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { CERTIFICATE, KEY } from "../../tests/support/tls_identity.ts";

const body = JSON.stringify({ login: "octocat", id: 583231, name: "The Octocat", text: "x".repeat(900) });
const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length }).end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
