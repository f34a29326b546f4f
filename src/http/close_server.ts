/**
 * Ends a server: requests may finish, but not for ever.
 *
 * @module
 */
import type { HttpServer } from "../core/ports/http.ts";
import type { Clock } from "../core/ports/ports.ts";

const GRACE_MS = 2000;

/** Stops a server; requests that take longer than two more seconds are cut off. */
export async function closeServer(server: HttpServer, clock: Clock): Promise<void> {
  const stopped = server.stop();
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => cancel = clock.after(GRACE_MS, resolve));
  await Promise.race([stopped, late]);
  cancel();
  await server.destroy();
  await stopped;
}
