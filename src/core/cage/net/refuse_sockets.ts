/**
 * Keeps unix sockets of the host out of a gated cage. It is the one kind of cage that may open such sockets, and a mount
 * that is read-only does not keep anybody from connecting.
 *
 * @module
 */
import { HostError } from "../../errors/host_error.ts";
import type { Files } from "../../ports/ports.ts";
import type { GrantedPath } from "../cage_plan.ts";

/** Rejects with `capability.socket_inside` when a granted path holds a unix socket. */
export async function refuseSockets(granted: readonly GrantedPath[], files: Files): Promise<void> {
  for (const { path } of granted) {
    const socket = await files.findSocket(path);
    if (socket === null) continue;
    throw new HostError(
      "capability.socket_inside",
      `Cannot grant "${path}" beside net rules: the plugin could talk to "${socket}"`,
      { data: { path, socket }, hint: "Move the socket, or grant a narrower path" },
    );
  }
}
