import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import type { NetEvent } from "../../../../src/core/cage/net/gatekeeper.ts";
import { GRANTED, runGranted } from "../../../support/granted_servers.ts";
import { canCage } from "../../../support/hook_repo.ts";
import { findPostgres, type Postgres, POSTGRES_NEEDED, startPostgres } from "../../../support/postgres.ts";
import { requireOrLess, requireOrSkip, runtimeName } from "../../../support/require_or_skip.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";

/** Addresses of the granted host by protocol, each with the answer of its server. */
const ASKED: Readonly<Record<string, readonly [url: string, answer: string]>> = {
  http: [`http://${GRANTED}/x`, `http ${GRANTED} /x`],
  https: [`https://${GRANTED}/x`, `https ${GRANTED} /x`],
  redis: [`redis://${GRANTED}`, "redis"],
  postgres: [`postgres://tester@${GRANTED}/postgres`, "postgres"],
};
const [WHAT, HOW] = POSTGRES_NEEDED;
const REFUSED = "http://refused.example/x";
const WEB = ["http", "https"];

/** A program that asks with several clients. */
interface Program {
  /** Its source among the fixtures, or its text. */
  readonly file: string;
  /** The command that runs it; the pairs of client and address follow. */
  readonly command: readonly string[];
  /** Client → protocols it must reach the granted host with. */
  readonly clients: Readonly<Record<string, readonly string[]>>;
  /** A client that heeds proxies, and so asks the gatekeeper for hosts that were not granted. */
  readonly proxied: string;
  /** Packages of the system that clients need: client → package. */
  readonly packages?: Readonly<Record<string, string>>;
}

const everywhere = { fetch: WEB, "node:http": WEB, socket: WEB };
const PROGRAMS: Readonly<Record<string, Program>> = {
  node: {
    file: "clients.mjs",
    command: ["node", "clients.mjs"],
    proxied: "node:http",
    clients: {
      ...everywhere,
      ...{ "axios-0.27": WEB, "axios-1.7": WEB, "axios-1.16": WEB, axios: WEB },
      ...{ superagent: WEB, got: WEB, "node-fetch": WEB, undici: WEB, "@elastic/transport": WEB },
      ...{ ioredis: ["redis"], pg: ["postgres"] },
    },
  },
  bun: { file: "clients.mjs", command: ["bun", "clients.mjs"], proxied: "fetch", clients: everywhere },
  deno: { file: "clients.mjs", command: ["deno", "run", "-A", "clients.mjs"], proxied: "fetch", clients: everywhere },
  python3: {
    file: "clients.py",
    command: ["python3", "clients.py"],
    proxied: "urllib",
    clients: { urllib: WEB, requests: WEB, httpx: WEB, socket: WEB },
    packages: { requests: "python3-requests", httpx: "python3-httpx" },
  },
  curl: { file: "clients.py", command: ["python3", "clients.py"], proxied: "curl", clients: { curl: WEB } },
  go: {
    file: "clients.go",
    command: ["./clients"],
    proxied: "net/http",
    clients: { "net/http": WEB, "net.Dial": ["http"] },
  },
};

/** Returns the program as its folder holds it, compiled where it must be; null where that cannot be done here. */
async function filesOf(t: TestContext, { file }: Program): Promise<Record<string, Uint8Array> | null> {
  const source = new URL(`fixtures/${file}`, import.meta.url);
  if (!file.endsWith(".go")) return { [file]: await readFile(source) };
  const go = (): boolean => spawnSync("/usr/bin/go", ["version"]).status === 0;
  if (!await requireOrSkip(t, "Go", go, "install it with: sh scripts/setup.sh extras")) return null;
  const dir = await scratchDir(t);
  const env = { PATH: "/usr/bin:/bin", HOME: dir, GOCACHE: `${dir}/cache`, GOPROXY: "off" };
  await promisify(execFile)("/usr/bin/go", ["build", "-o", `${dir}/clients`, source.pathname], { cwd: dir, env });
  return { clients: await readFile(`${dir}/clients`) };
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  test(`N-020 clients of ${name} reach a granted host as they are, and no other, where ${runtimeName} runs the host`, async (t) => {
    const files = await canCage(t) ? await filesOf(t, program) : null;
    if (files === null) return;
    let postgres: Postgres | null = null;
    t.after(() => postgres?.stop());
    const expected: Record<string, string> = {};
    const pairs: [client: string, url: string][] = [];
    for (const [client, protocols] of Object.entries(program.clients)) {
      const wanted = program.packages?.[client];
      const isThere = (): boolean => spawnSync("/usr/bin/python3", ["-c", `import ${client}`]).status === 0;
      if (wanted !== undefined && !await requireOrLess(t, wanted, isThere, "sh scripts/setup.sh extras")) continue;
      const needsPostgres = protocols.includes("postgres");
      if (needsPostgres && !await requireOrLess(t, WHAT, () => findPostgres() !== null, HOW)) continue;
      if (needsPostgres) postgres = await startPostgres();
      for (const [url, answer] of protocols.map((protocol) => ASKED[protocol]!)) {
        pairs.push([client, url]);
        expected[`${client} ${url}`] = answer;
      }
    }
    pairs.push([program.proxied, REFUSED]);
    const command = [...program.command, JSON.stringify(pairs)];
    const { answers, events } = await runGranted(t, files, { command, capabilities: ["exec:curl:plugin:/"] }, postgres);
    const { [`${program.proxied} ${REFUSED}`]: refusal, ...reached } = answers;
    assert.deepEqual(reached, expected);
    assert.notEqual(refusal, undefined);
    // A client that heeds the proxy may look the name up all the same.
    const isLookup = (event: NetEvent): boolean => "source" in event && event.source === "lookup";
    const lookups = events.filter(isLookup);
    assert.ok(lookups.every(({ host }) => host === "refused.example"));
    const refused = events.filter((event) => event.kind === "refused" && !isLookup(event));
    assert.deepEqual(refused, [{ kind: "refused", host: "refused.example", port: 80, reason: "not-allowed" }]);
    const ports = new Set(pairs.map(([, url]) => url.split(":")[0]));
    assert.equal(events.length - refused.length - lookups.length, ports.size, "each connection came by the gatekeeper");
  });
}
