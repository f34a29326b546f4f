import assert from "node:assert/strict";
import { test } from "node:test";
import { StandingStream } from "../../../src/core/remote/standing_stream.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { until } from "../../support/until.ts";

/** A stream whose server answers when the test says so. */
function stream() {
  const clock = createFakeClock();
  const answer = Promise.withResolvers<Response>();
  const standing = new StandingStream(clock);
  const fetch = standing.watching((_url, init) =>
    init?.method === "GET" ? answer.promise : Promise.resolve(new Response())
  );
  let isReady = false;
  return {
    clock,
    answer,
    standing,
    fetch,
    follow: () => void standing.ready.then(() => isReady = true),
    isReady: () => isReady,
  };
}

test("N-033 requests wait for the greeting, and for the standing stream to be answered or refused", async () => {
  for (const status of [200, 405]) {
    const { standing, fetch, answer, follow, isReady } = stream();
    await standing.ready; // Nothing waits before the greeting.
    const greeting = Promise.withResolvers<void>();
    const sent = standing.greets(greeting.promise);
    follow();
    greeting.resolve();
    await sent;
    const opening = fetch("https://x.example/mcp", { method: "GET" });
    await fetch("https://x.example/mcp", { method: "POST" });
    assert.equal(isReady(), false);
    answer.resolve(new Response(null, { status }));
    await opening;
    await until(isReady, "the way to be free", "turn");
  }
});

test("N-033 a standing stream that is never answered holds requests up for 2 s and no longer", async () => {
  const { clock, standing, follow, isReady } = stream();
  await standing.greets(Promise.resolve());
  follow();
  await until(() => clock.waiting > 0 || undefined, "the timer", "turn");
  clock.advance(1_999);
  await Promise.resolve();
  assert.equal(isReady(), false);
  clock.advance(1);
  await until(isReady, "the way to be free", "turn");
});
