import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { CageRequest } from "../../../src/core/cage/cage.ts";
import { openCage } from "../../../src/core/cage/open_cage.ts";
import { probeCage } from "../../../src/core/cage/probe_cage.ts";
import type { NetEvent } from "../../../src/core/cage/net/gatekeeper.ts";
import type { Runtime } from "../../../src/core/ports/ports.ts";
import { PLACEHOLDER, secretFor, secureUpstream } from "../../support/bound_gate.ts";
import { placesIn, requestOf, startCaged } from "../../support/cage_requests.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { AUTHORITY } from "../../support/tls_identity.ts";

const runtime = await detectRuntime();
const { files } = runtime;
const USES_SECRET = new URL("./fixtures/uses_secret.py", import.meta.url);
const VALUE = "ghp_9dK2mXq7Rt4LwZ1vB8nC";
const backwards = (text: string): string => [...text].reverse().join("");

/** A place for cages whose operator trusts the authority of the tests; null when this machine cannot cage. */
async function ground(t: TestContext): Promise<{ places: CageRequest["places"]; trusting: Runtime } | null> {
  const dir = await scratchDir(t);
  const places = await placesIn(dir, runtime);
  const can = async (): Promise<boolean> => (await probeCage(runtime, places.home)).error === null;
  if (!await requireOrSkip(t, "a working bubblewrap", can, "run kaged doctor")) return null;
  await files.write(`${dir}/roots.pem`, AUTHORITY);
  const env = (name: string): string | null => name === "SSL_CERT_FILE" ? `${dir}/roots.pem` : null;
  return { places, trusting: { ...runtime, env } };
}

/** The order for a cage whose program holds the placeholder of a secret for one port of loopback. */
const boundRequest = (command: string[], port: number, places: CageRequest["places"]): CageRequest => ({
  ...requestOf({ command, env: { TOKEN: PLACEHOLDER }, capabilities: [`net:127.0.0.1:${port}`] }, places),
  secrets: [secretFor({ hosts: [{ host: "127.0.0.1", port }], value: () => VALUE })],
});

test("a caged program uses a secret that it finds nowhere: not in memory, environment, files or answers", async (t) => {
  const found = await ground(t);
  if (!found) return;
  const { places, trusting } = found;
  const server = await secureUpstream(t, (response, { headers }) => {
    response.setHeader("X-Echo", `${headers["authorization"]}`);
    response.end(JSON.stringify(headers));
  });
  await files.write(`${places.installDir}/uses_secret.py`, await readFile(USES_SECRET), 0o644);
  const url = `https://127.0.0.1:${server.port}/`;
  const events: NetEvent[] = [];
  const command = ["python3", "uses_secret.py", url, backwards(VALUE), backwards(PLACEHOLDER)];
  const request = {
    ...boundRequest(command, server.port, places),
    onNet: (event: NetEvent) => void events.push(event),
  };
  const { out, err } = await (await startCaged(request, undefined, trusting)).end();
  assert.match(out, /^\{/, err);
  const { answer, found: [secret, placeholder] } = JSON.parse(out);
  assert.equal(server.heard[0]?.headers["authorization"], `Bearer ${VALUE}`);
  assert.deepEqual(answer.slice(0, 2), [200, `Bearer ${PLACEHOLDER}`]);
  assert.equal(JSON.parse(answer[2]).authorization, `Bearer ${PLACEHOLDER}`);
  assert.deepEqual({ secret, placeholder }, { secret: false, placeholder: true });
  assert.deepEqual(events, [{ kind: "opened", host: "127.0.0.1", port: server.port }]);
});

test("a cage with a secret shows the authority's certificate and no key; one without has neither", async (t) => {
  const found = await ground(t);
  if (!found) return;
  const { places, trusting } = found;
  const script =
    "ls /.cage; grep -c BEGIN /.cage/*.pem; grep -l PRIVATE /.cage/*.pem; env | grep -E 'CERT|_CA_' | sort";
  const bound = boundRequest(["bash", "-c", script], 1, places);
  const names = ["grep", "ls", "env", "sort"].map((name) => `exec:${name}:plugin:/`);
  const manifest = { ...bound.manifest, capabilities: [...bound.manifest.capabilities, ...names] };
  const { out } = await (await startCaged({ ...bound, manifest }, undefined, trusting)).end();
  assert.deepEqual(out.trim().split("\n").filter((line) => !/^(js|net\.sock|prlimit|relay\..*)$/.test(line)), [
    ...["authority.pem", "roots.pem", "/.cage/authority.pem:1", "/.cage/roots.pem:2"],
    ...["CURL_CA_BUNDLE=/.cage/roots.pem", "DENO_CERT=/.cage/authority.pem"],
    ...["NODE_EXTRA_CA_CERTS=/.cage/authority.pem", "REQUESTS_CA_BUNDLE=/.cage/roots.pem"],
    "SSL_CERT_FILE=/.cage/roots.pem",
  ]);
  const { secrets: _, ...without } = { ...bound, manifest };
  const plain = await (await startCaged(without, undefined, trusting)).end();
  assert.doesNotMatch(plain.out, /pem/);
});

test("a file of certificates that cannot be read stops the cage, and names the variable", async (t) => {
  const found = await ground(t);
  if (!found) return;
  const broken = { ...runtime, env: (name: string) => name === "SSL_CERT_FILE" ? "/absent.pem" : null };
  await assert.rejects(openCage(boundRequest(["true"], 1, found.places), broken), {
    code: "cage.roots_unreadable",
    message: /"\/absent\.pem"/,
    hint: /SSL_CERT_FILE/,
  });
  assert.deepEqual(await files.list(`${found.places.home}/run`), []);
});
