/**
 * Opens a gatekeeper on the runtime that runs it, and a plain proxy beside it, and lets a client ask through each of
 * them in turn: `host.ts <node> <rounds> <seconds>`. Prints the best figures of the rounds, as JSON.
 *
 * @module
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { detectRuntime } from "../../mod.ts";
import { openGatekeeper } from "../../src/core/cage/net/gatekeeper.ts";
import { createAuthority } from "../../src/core/cage/net/tls/authority.ts";
import { AUTHORITY } from "../../tests/support/tls_identity.ts";
import { plainProxy } from "./plain_proxy.ts";

/** Figures of one way to the server. */
export interface Figures {
  readonly perSecond: number;
  readonly latencyMs: number;
  readonly firstMs: number;
}

const [node = "", rounds = "3", seconds = "1"] = process.argv.slice(2);
const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const dir = realpathSync(mkdtempSync(join(tmpdir(), "kaged-bench-")));
const server = spawn(node, ["--no-warnings", fileOf("server.ts")], { stdio: ["ignore", "pipe", "inherit"] });
try {
  const runtime = await detectRuntime();
  const port = Number(String((await once(server.stdout, "data"))[0]));
  const authority = await createAuthority(runtime);
  writeFileSync(join(dir, "server.pem"), AUTHORITY);
  writeFileSync(join(dir, "gate.pem"), authority.certificate);
  const rules = [{ kind: "net", scope: "host", host: "127.0.0.1", port }] as const;
  const gate = { rules, network: runtime.network, clock: runtime.clock, onNet: (): void => {} };
  const secret = {
    name: "token",
    placeholder: `kaged_secret_${"0123456789abcdef".repeat(2)}`,
    hosts: [{ host: "127.0.0.1", port }],
    value: () => "ghp_9dK2mXq7Rt4LwZ1vB8nC5jH3gF6sA0pE",
  };
  const bound = { secrets: [secret], limits: [], authority, roots: [AUTHORITY] };
  const open = [
    await openGatekeeper({ ...gate, path: join(dir, "opaque") }),
    await openGatekeeper({ ...gate, path: join(dir, "bound"), bound }),
    await plainProxy(join(dir, "plain")),
  ];
  const ways: Record<string, [socket: string, ca: string]> = {
    "direct": ["-", "server.pem"],
    "plain proxy": [join(dir, "plain"), "server.pem"],
    "opaque": [join(dir, "opaque"), "server.pem"],
    "bound": [join(dir, "bound"), "gate.pem"],
    "direct again": ["-", "server.pem"],
  };
  const best: Record<string, Figures> = {};
  for (let round = 0; round < Number(rounds); round++) {
    for (const [way, [socket, ca]] of Object.entries(ways)) {
      const args = ["--no-warnings", fileOf("client.ts"), `${port}`, socket, join(dir, ca), seconds];
      const { stdout } = await promisify(execFile)(node, args);
      const now = JSON.parse(stdout) as Figures;
      const former = best[way] ?? now;
      best[way] = {
        perSecond: Math.max(former.perSecond, now.perSecond),
        latencyMs: Math.min(former.latencyMs, now.latencyMs),
        firstMs: Math.min(former.firstMs, now.firstMs),
      };
    }
  }
  for (const each of open) await each.close();
  console.log(JSON.stringify(best));
} finally {
  server.kill();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);
