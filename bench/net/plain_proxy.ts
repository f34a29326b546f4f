/**
 * A CONNECT proxy in 30 lines: no rules, no limits, no report.
 *
 * @module
 */
import { connect, createServer, type Server } from "node:net";

/** Listens at a unix socket and passes connections on to wherever they ask for. */
export function plainProxy(path: string): Promise<Server> {
  const server = createServer((client) => {
    client.once("data", (head) => {
      const [, host = "", port = ""] = /^CONNECT ([^:]+):(\d+) /.exec(String(head)) ?? [];
      const upstream = connect(Number(port), host, () => {
        client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        client.pipe(upstream);
        upstream.pipe(client);
      });
      upstream.on("error", () => client.destroy());
      client.on("error", () => upstream.destroy());
    });
  });
  return new Promise((resolve) => server.listen(path, () => resolve(server)));
}
