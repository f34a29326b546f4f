import assert from "node:assert/strict";
import { request } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { createHost, detectRuntime, ERRORS } from "../../mod.ts";
import type { HostErrorCode } from "../../src/core/errors/host_error.ts";
import { OPENAPI_TEXT } from "../../src/http/generated/openapi.ts";
import { serveHost } from "../../src/http/serve_host.ts";
import { checkAnswer } from "../support/api_document.ts";
import { SEED } from "../support/chance.ts";
import fc from "../support/fast_check.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { openApiRequests, type WireRequest } from "../support/openapi_requests.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { SECRET, USUAL, YAML } from "../support/served.ts";

const REQUESTS = Number(process.env["KAGED_FUZZ_HTTP"] ?? 500);
/** Requests that are under way at the same time. */
const AT_ONCE = 8;
/** Longer than any answer takes: the calls' own deadline is 30 seconds. */
const HANG_MS = 60_000;

interface Got {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends what `fetch` would mend: paths, headers and lengths go out as they are. */
function send(port: number, { method, target, headers, body }: WireRequest): Promise<Got> {
  return new Promise((resolve, reject) => {
    const path = target.replace(/[^!-~]/g, (char) => encodeURIComponent(char));
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false, setHost: false }, (answer) => {
      const type = answer.headers["content-type"] ?? "";
      const done = (text: string) => resolve({ status: answer.statusCode ?? 0, type, text });
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        if (!type.startsWith("text/event-stream")) return;
        answer.destroy(); // It has no end.
        done(text);
      });
      answer.on("end", () => done(text)).on("error", () => done(text));
    });
    sent.on("upgrade", (_, socket) => {
      socket.destroy();
      resolve({ status: 101, type: "", text: "" });
    });
    // A server that has refused a body need not read it to its end.
    sent.on("error", (error) => reject(error));
    sent.setTimeout(HANG_MS, () => sent.destroy(new Error("The request hangs")));
    sent.end(body ?? undefined);
  });
}

test(`${REQUESTS} requests made from /openapi.json: no failure of ours, no hang, no secret, no stack`, async (t) => {
  const [dir, home] = [join(await scratchDir(t), "music"), await scratchDir(t)];
  await mkdir(dir);
  await writeFile(
    join(dir, "project.yaml"),
    YAML.replace(
      "primary:\n  plugins:",
      `primary:
  plugins:
    crasher: { package: "@test/crasher" }
    missing: { package: "@test/missing" }`,
    ),
  );
  await writeFile(join(home, "local.toml"), USUAL.local!);
  // The plugin knows the operator's secret; it is asked for everything that it reveals but that.
  const { manifest } = USUAL.fixtures!["@test/memory"] as { manifest: object };
  const methods = ["echo.params", "echo.notify", "echo.refuse", "echo.big", "echo.storage"];
  await using memory = await fixturePlugin("echo", { manifest: { ...manifest, methods } });
  await using crasher = await fixturePlugin("crashes_on_call");
  const runtime = await detectRuntime();
  const warnings: string[] = [];
  const onWarning = (text: string) => void warnings.push(text);
  await using host = await createHost({
    runtime,
    project: dir,
    home,
    plugins: { "@test/memory": memory.dir, "@test/crasher": crasher.dir },
    onWarning,
  });
  host.agent("primary", ({ input, emit }) => {
    emit("text", { length: input.length });
    return input.toUpperCase();
  });
  await host.start();
  const jobs = await Promise.all(["a", "b", "c"].map((input) => host.jobs.start({ agentName: "primary", input })));
  const jobIds = jobs.map(({ id }) => id);
  host.openSession({ id: "ses_1" });
  const served = await serveHost({ host, runtime, port: 0, callsPerSecond: 1_000_000, onWarning });
  await using _ = { [Symbol.asyncDispose]: () => served.close() };
  const { port, host: authority } = new URL(served.address);
  const requests = fc.sample(
    openApiRequests(JSON.parse(OPENAPI_TEXT), {
      headers: { Host: authority, Authorization: `Bearer ${served.token}`, Connection: "close" },
      known: {
        name: ["echo", "echo", "echo", "crashes-on-call"],
        method: [...methods, "fixture.call", "kaged.hook.on_session_start", "echo.config"],
        agent: ["primary", "primary.subagents.researcher"],
        session: ["ses_1"],
        knob: ["level"],
        id: [...host.consents().map(({ id }) => id), ...jobIds],
        cursor: jobIds,
        agentName: ["primary"],
        params: ["{}", '{"count":3}', '{"code":-32005,"message":"busy"}', '{"sql":"SELECT 1"}', '{"text":"a\\nb"}'],
        timeout_ms: ["1000", "5000"],
      },
      weight: (operation) => /enable|disable|reload|restart/i.test(operation) ? 1 : 10,
    }),
    { numRuns: REQUESTS },
  );
  const counts = new Map<string, number>();

  async function ask(one: WireRequest): Promise<void> {
    const shown = `seed ${SEED}: ${one.method} ${one.target.slice(0, 300)} ${JSON.stringify(one.headers)} ${
      one.body?.slice(0, 200)
    }`;
    const got = await send(Number(port), one).catch((error: Error & { code?: string }) => {
      // The client itself refuses some headers; a server may end a connection whose request it cannot read.
      if (/ERR_|HPE_|ECONNRESET|EPIPE/.test(`${error.code}`) || error instanceof TypeError) return null;
      throw new Error(`${error.message}: ${shown}`);
    });
    const key = got === null ? "unsent" : `${got.status}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (got === null) return;
    const answered = `${shown} → ${got.status} ${got.text.slice(0, 500)}`;
    assert.ok(got.status < 500 || got.status === 502, answered);
    for (const secret of [SECRET, served.token]) assert.equal(got.text.includes(secret), false, answered);
    assert.doesNotMatch(got.text, /\.ts:[0-9]+|node_modules\//, answered); // Plugins' own stacks are .js, and the operator's to read.
    if (one.method === "HEAD") assert.equal(got.text, "", answered);
    else if (got.type.startsWith("application/problem+json")) {
      const { code, status } = JSON.parse(got.text);
      assert.deepEqual([status, ERRORS[code as HostErrorCode]?.http], [got.status, got.status], answered);
      checkAnswer(one.method, one.target, { ...got, body: JSON.parse(got.text) });
    } else if (got.status < 400 && got.type.startsWith("application/json")) {
      checkAnswer(one.method, one.target, { ...got, body: JSON.parse(got.text) });
    } else assert.ok(got.status < 400 || got.text === "", answered); // What the server itself could not read.
  }

  const left = [...requests];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    try {
      for (let one = left.pop(); one; one = left.pop()) await ask(one);
    } finally {
      left.length = 0; // One that fails ends the others.
    }
  }));
  assert.equal((await fetch(`${served.address}/healthz`)).status, 200);
  assert.deepEqual(warnings, []);
  assert.ok((counts.get("200") ?? 0) > REQUESTS / 5, JSON.stringify([...counts]));
  if (process.env["KAGED_FUZZ_HTTP"]) {
    console.log(`seed ${SEED}: ${JSON.stringify(Object.fromEntries([...counts].sort()))}`);
  }
});
