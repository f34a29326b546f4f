import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_WATCHED, WatchedResources } from "../../src/mcp/watched_resources.ts";

/** A watch of resources that notes what it is asked for. */
function watching(): { watched: WatchedResources; log: string[]; change(uri: string): void } {
  const [log, listeners] = [[] as string[], new Map<string, () => void>()];
  const begin = (uri: string, onChange: () => void): Promise<() => Promise<void>> => {
    if (uri === "bad:") return Promise.reject(new Error("No such resource"));
    log.push(`begin ${uri}`);
    listeners.set(uri, onChange);
    return Promise.resolve(() => Promise.resolve(void log.push(`end ${uri}`)));
  };
  const watched = new WatchedResources(begin, (uri) => log.push(`changed ${uri}`));
  return { watched, log, change: (uri) => listeners.get(uri)!() };
}

test("N-030 a resource that a client watches twice is watched once, until both have ended", async () => {
  const { watched, log, change } = watching();
  await Promise.all([watched.add("a:"), watched.add("a:")]);
  change("a:");
  await watched.remove("a:");
  await watched.remove("b:");
  assert.deepEqual(log, ["begin a:", "changed a:"]);
  await watched.remove("a:");
  assert.deepEqual(log.slice(2), ["end a:"]);
});

test("N-030 a resource that cannot be watched is refused each time, and everything ends with the client", async () => {
  const { watched, log } = watching();
  for (let n = 0; n < 2; n++) await assert.rejects(watched.add("bad:"), /No such resource/);
  await watched.add("a:");
  await watched.clear();
  assert.deepEqual(log, ["begin a:", "end a:"]);
});

test("N-030 one client watches a bounded number of resources", async () => {
  const { watched } = watching();
  for (let n = 0; n < MAX_WATCHED; n++) await watched.add(`r:${n}`);
  await assert.rejects(watched.add("one:more"), { code: "mcp.params_invalid", hint: /Unsubscribe/ });
});
