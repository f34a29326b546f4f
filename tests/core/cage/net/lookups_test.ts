import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import type { NetEvent } from "../../../../src/core/cage/net/gatekeeper.ts";
import type { Network } from "../../../../src/core/ports/ports.ts";
import { placesIn, requestOf, startCaged } from "../../../support/cage_requests.ts";
import { SEED } from "../../../support/chance.ts";
import { GRANTED, runGranted } from "../../../support/granted_servers.ts";
import { canCage } from "../../../support/hook_repo.ts";
import { requireOrSkip, runtimeName } from "../../../support/require_or_skip.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";

/** Clients that heed no proxy, each with what it says of the granted host. */
type Clients = Readonly<Record<string, string | RegExp>>;

const FOUND = "127.0.0.2";
const WEB = `http ${GRANTED} /x`;
const script: Clients = {
  "socket": WEB,
  "dns.lookup": FOUND,
  "dns.resolve4": FOUND,
  // A name without such an address, and no failure of the server: clients then take the other one.
  "dns.resolve6": /\b(ENODATA|ENOTFOUND)\b/,
};
const PROGRAMS: Readonly<Record<string, { file: string; command: readonly string[]; clients: Clients }>> = {
  node: { file: "clients.mjs", command: ["node", "clients.mjs"], clients: script },
  bun: { file: "clients.mjs", command: ["bun", "clients.mjs"], clients: script },
  deno: { file: "clients.mjs", command: ["deno", "run", "-A", "clients.mjs"], clients: script },
  python3: {
    file: "clients.py",
    command: ["python3", "clients.py"],
    clients: { "socket": WEB, "getaddrinfo": FOUND, "getaddrinfo 4": FOUND, "curl --noproxy": WEB },
  },
  go: { file: "clients.go", command: ["./clients"], clients: { "net.Dial": WEB, "net.Resolver": FOUND } },
};

/** Returns the program as its folder holds it, compiled where it must be; null where that cannot be done here. */
async function filesOf(t: TestContext, file: string): Promise<Record<string, Uint8Array> | null> {
  const source = new URL(`fixtures/${file}`, import.meta.url);
  if (!file.endsWith(".go")) return { [file]: await readFile(source) };
  const go = (): boolean => spawnSync("/usr/bin/go", ["version"]).status === 0;
  if (!await requireOrSkip(t, "Go", go, "install it with: sh scripts/setup.sh extras")) return null;
  const dir = await scratchDir(t);
  const env = { PATH: "/usr/bin:/bin", HOME: dir, GOCACHE: `${dir}/cache`, GOPROXY: "off" };
  await promisify(execFile)("/usr/bin/go", ["build", "-o", `${dir}/clients`, source.pathname], { cwd: dir, env });
  return { clients: await readFile(`${dir}/clients`) };
}

for (const [name, { file, command, clients }] of Object.entries(PROGRAMS)) {
  test(`N-020 a name that ${name} looks up past the proxy is refused by the gatekeeper, where ${runtimeName} runs the host`, async (t) => {
    const files = await canCage(t) ? await filesOf(t, file) : null;
    if (files === null) return;
    // Each client asks for the granted host, and for one of its own that was not granted.
    const asked = Object.keys(clients).map((client, index) => [client, `c${index}.refused.example`] as const);
    const pairs = asked.flatMap(([client, host]) => [[client, `http://${GRANTED}/x`], [client, `http://${host}/x`]]);
    const { answers, events } = await runGranted(t, files, {
      command: [...command, JSON.stringify(pairs)],
      capabilities: ["exec:curl:plugin:/"],
    });
    for (const [client, host] of asked) {
      const answer = answers[`${client} http://${GRANTED}/x`] ?? "";
      const expected = clients[client]!;
      if (typeof expected === "string") assert.equal(answer, expected, client);
      else assert.match(answer, expected, client);
      assert.match(answers[`${client} http://${host}/x`] ?? "", /\S/, client);
    }
    const refused = events.filter(({ kind }) => kind === "refused");
    const lookup = { kind: "refused", port: 0, reason: "not-allowed", source: "lookup" };
    assert.deepEqual(refused, asked.map(([, host]): NetEvent => ({ ...lookup, host } as NetEvent)));
  });
}

test("what is no question does not harm the name server, which still answers, reports and asks nobody outside", async (t) => {
  if (!await canCage(t)) return;
  const runtime = await detectRuntime();
  const places = await placesIn(await scratchDir(t), runtime);
  const program = await readFile(new URL("fixtures/asks_names.py", import.meta.url));
  await runtime.files.write(`${places.installDir}/asks_names.py`, program, 0o644);
  const events: NetEvent[] = [];
  const outside: string[] = [];
  const network: Network = {
    ...runtime.network,
    resolve: (name) => (outside.push(name), Promise.resolve([])),
  };
  const names = [GRANTED, "b.example", "line\nbreak.example"];
  const command = ["python3", "asks_names.py", JSON.stringify([SEED, names])];
  const request = requestOf({ command, capabilities: [`net:${GRANTED}:443`] }, places);
  const onNet = (event: NetEvent): void => void events.push(event);
  const caged = await startCaged({ ...request, onNet }, undefined, { ...runtime, network });
  const { out, err, exit } = await caged.end();
  assert.deepEqual([exit.code, err], [0, ""]);
  const { sent, answers } = JSON.parse(out);
  assert.equal(sent, 1004);
  const noName = Array(3).fill([3, "0.1.0.1"]);
  assert.deepEqual(answers, {
    [GRANTED]: Array(3).fill([0, "127.0.0.2"]),
    "b.example": noName,
    "line\nbreak.example": noName,
  });
  const lookup = { kind: "refused", port: 0, source: "lookup" };
  const hosts = events.filter(({ host }) => host === "b.example" || host.startsWith("line"));
  assert.deepEqual(hosts, [
    { ...lookup, host: "b.example", reason: "not-allowed" },
    { ...lookup, host: "line?break.example", reason: "bad-target" },
  ]);
  assert.ok(events.every(({ host }) => /^[\x21-\x7e]*$/.test(host)));
  assert.deepEqual(outside, []);
});
