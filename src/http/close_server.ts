/**
 * How a server ends: gently, but not forever.
 *
 * @module
 */
import type { HttpServer } from "../core/ports/http.ts";
import type { Clock } from "../core/ports/ports.ts";

/** What a request may still take when its server ends. */
const GRACE_MS = 2000;

/** Stops a server; requests that are not done in two seconds are cut off. */
export async function closeServer(server: HttpServer, clock: Clock): Promise<void> {
  const stopped = server.stop();
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => cancel = clock.after(GRACE_MS, resolve));
  await Promise.race([stopped, late]);
  cancel();
  await server.destroy();
  await stopped;
}
