/** One door for everything a machine may lack: it says why a test did not run, and can forbid that. */
import { appendFileSync } from "node:fs";
import process from "node:process";
import type { TestContext } from "node:test";

/** Which runtime runs this suite. */
export const runtimeName: string = "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node";

/**
 * Returns true when `available`. Otherwise it prints the reason, adds it to the skip report and returns false: the
 * test then returns. With KAGED_FORBID_SKIP=1 it throws instead, with KAGED_REQUIRE_CAGE=1 where a cage is missing.
 */
export async function requireOrSkip(
  t: TestContext,
  what: string,
  available: boolean | (() => boolean | Promise<boolean>),
  how: string,
): Promise<boolean> {
  if (typeof available === "function" ? await available() : available) return true;
  const isForbidden = process.env.KAGED_FORBID_SKIP === "1" ||
    (process.env.KAGED_REQUIRE_CAGE === "1" && what === "a working bubblewrap");
  if (isForbidden) throw new Error(`Skipping is forbidden here: needs ${what}; ${how}`);
  console.log(`skipped: needs ${what}; ${how}`);
  const report = process.env.KAGED_SKIP_REPORT;
  const test = t.name ?? "(test)";
  if (report) appendFileSync(report, `${JSON.stringify({ runtime: runtimeName, test, what, how })}\n`);
  return false;
}
