/**
 * Awaits a handler that never answers, at the top of a module: only the engine's deadline keeps this process alive.
 *
 * @module
 */
import { createHookEngine } from "../../../../src/hooks/mod.ts";

const engine = createHookEngine();
engine.register("PreToolUse", function hung() {
  return new Promise(() => {});
}, { timeoutMs: 100, onFailure: "block" });

const { blocked, blockedBy, reason } = await engine.fire({ hook: "PreToolUse", sessionId: "s", agent: "primary" });
console.log(JSON.stringify({ blocked, blockedBy, reason }));
