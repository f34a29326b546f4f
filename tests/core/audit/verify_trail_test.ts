import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { parseHead } from "../../../src/core/audit/chain.ts";
import { type TrailBreak, verifyTrail } from "../../../src/core/audit/verify_trail.ts";
import { runtime, type TrailGround, trailGround } from "./trail_ground.ts";

const { files } = runtime;

/** A trail of 8 events in three files, 3, 3 and 2, as a host left it. */
async function threeFiles(t: TestContext) {
  const ground = await trailGround(t);
  const { audit } = ground.open({ maxBytes: 400 });
  for (const rates of [[1, 2, 3], [4, 5, 6], [7, 8]]) await ground.store(audit, ...rates);
  const verify = (against?: string) => {
    const head = against === undefined ? null : parseHead(against);
    return verifyTrail(ground.place, files, { against: head });
  };
  /** Lets `change` rewrite the lines of a file. */
  const edit = async (name: string, change: (lines: string[]) => string[]): Promise<void> => {
    const path = `${ground.folder}/${name}`;
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    await rm(path);
    await writeFile(path, change(lines).map((line) => `${line}\n`).join(""));
  };
  const place = async () => {
    const { broken } = await verify();
    return broken && shortOf(broken);
  };
  return { ...ground, verify, edit, place };
}

const shortOf = ({ file, line, seq, reason }: TrailBreak): unknown[] => [file, line, seq, reason];
const FIRST = "music.000000000001.jsonl";
const SECOND = "music.000000000004.jsonl";
const OPEN = "music.jsonl";

test("verify passes for a trail as it was written, and counts what it saw", async (t) => {
  const { verify, folder } = await threeFiles(t);
  const { head, ...verdict } = await verify();
  const counts = { files: 3, lines: 8, mended: 0, expired: 0, lost: 0, torn_bytes: 0, unchained: [] };
  assert.deepEqual(verdict, { project: "music", ok: true, broken: null, ...counts });
  assert.equal(`${head}\n`, await readFile(`${folder}/music.head`, "utf8"));
});

test("N-010 verify finds a removed line, and names the line after it", async (t) => {
  const { edit, place, verify } = await threeFiles(t);
  await edit(SECOND, ([first, , third]) => [first!, third!]);
  assert.deepEqual(await place(), [SECOND, 2, 6, "missing"]);
  assert.equal((await verify()).broken?.message, "Line 5 is missing before line 6");
});

test("N-010 verify finds a changed line and names it, in the middle, at the end of a file and at the end of the trail", async (t) => {
  for (const [name, at, seq] of [[FIRST, 1, 2], [SECOND, 2, 6], [OPEN, 1, 8]] as const) {
    const { edit, place } = await threeFiles(t);
    await edit(name, (lines) => lines.map((line, index) => index === at ? line.replace('"echo"', '"eche"') : line));
    assert.deepEqual(await place(), [name, at + 1, seq, "changed"]);
  }
});

test("verify finds two lines that were swapped", async (t) => {
  const { edit, place } = await threeFiles(t);
  await edit(SECOND, ([first, second, third]) => [first!, third!, second!]);
  assert.deepEqual(await place(), [SECOND, 2, 6, "missing"]);
});

test("verify finds an inserted line, also one that fits the line before it", async (t) => {
  const { edit, place } = await threeFiles(t);
  await edit(FIRST, ([first, second, third]) => [first!, second!.replace('"echo"', '"eche"'), second!, third!]);
  assert.deepEqual(await place(), [FIRST, 3, 2, "out_of_order"]);
  const other = await threeFiles(t);
  await other.edit(FIRST, (lines) => [lines[0]!, "hello", ...lines.slice(1)]);
  assert.deepEqual(await other.place(), [FIRST, 2, null, "unreadable"]);
});

test("verify finds a trail cut at its end, by whole lines and within one", async (t) => {
  const { edit, place, folder, verify } = await threeFiles(t);
  await edit(OPEN, ([first]) => [first!]);
  assert.deepEqual(await place(), [OPEN, 1, 7, "cut"]);
  await edit(OPEN, () => []);
  assert.deepEqual(await place(), [SECOND, 3, 6, "cut"]);
  await writeFile(`${folder}/${OPEN}`, '{"seq":7,');
  assert.deepEqual([await place(), (await verify()).torn_bytes], [[SECOND, 3, 6, "cut"], 9]);
});

test("verify finds a deleted file: the first, one in the middle, the last, and the head file", async (t) => {
  const without = async (name: string) => {
    const { folder, place } = await threeFiles(t);
    await rm(`${folder}/${name}`);
    return await place();
  };
  assert.deepEqual(await without(FIRST), [SECOND, 1, 4, "missing"]);
  assert.deepEqual(await without(SECOND), [OPEN, 1, 7, "missing"]);
  assert.deepEqual(await without(OPEN), [SECOND, 3, 6, "cut"]);
  assert.deepEqual(await without("music.head"), [OPEN, 2, 8, "no_head"]);
});

test("a host that goes on after the trail was cut or changed does not make it whole again", async (t) => {
  const cut = await threeFiles(t);
  await cut.edit(OPEN, ([first]) => [first!]);
  await cut.store(cut.open().audit, 9);
  assert.deepEqual(await cut.place(), [OPEN, 2, 9, "missing"]);
  const changed = await threeFiles(t);
  await changed.edit(OPEN, ([first, second]) => [first!, second!.replace('"echo"', '"eche"')]);
  await changed.store(changed.open().audit, 9);
  assert.deepEqual(await changed.place(), [OPEN, 2, 8, "changed"]);
});

test("files that retention deleted are no break, and one deleted besides is", async (t) => {
  const { open, store, clock, verify, folder } = await threeFiles(t);
  clock.advance(11 * 86_400_000);
  const { audit } = open({ maxBytes: 1, retention_days: 10 });
  await store(audit, 9);
  await store(audit, 10);
  const { ok, expired, lines } = await verify();
  assert.deepEqual([ok, expired], [true, 3]);
  assert.ok(lines < 8, `${lines}`);
  await rm(`${folder}/music.000000000009.jsonl`);
  assert.deepEqual(shortOf((await verify()).broken!), [OPEN, 1, 13, "missing"]);
});

test("an event of retention excuses the files that it names, and no other that is gone", async (t) => {
  const ground = await trailGround(t);
  const first = ground.open({ maxBytes: 400 }).audit;
  await ground.store(first, 1, 2, 3);
  ground.clock.advance(6 * 86_400_000);
  for (const rates of [[4, 5, 6], [7, 8]]) await ground.store(first, ...rates);
  ground.clock.advance(5 * 86_400_000);
  await ground.store(ground.open({ retention_days: 10 }).audit, 9);
  const verify = async () => {
    const { broken, expired } = await verifyTrail(ground.place, files);
    return [broken && shortOf(broken), expired];
  };
  assert.deepEqual(await verify(), [null, 1]);
  await rm(`${ground.folder}/${SECOND}`);
  assert.deepEqual(await verify(), [[OPEN, 1, 7, "missing"], 1]);
});

test("a kept head whose line retention deleted fits as the line before the first one, and no older one does", async (t) => {
  const ground = await trailGround(t);
  const { audit } = ground.open({ maxBytes: 400, retention_days: 10 });
  const heads: (ReturnType<typeof parseHead>)[] = [];
  for (const rates of [[1], [2, 3]]) {
    await ground.store(audit, ...rates);
    heads.push(parseHead((await verifyTrail(ground.place, files)).head!));
  }
  ground.clock.advance(6 * 86_400_000);
  await ground.store(audit, 4, 5, 6);
  ground.clock.advance(5 * 86_400_000);
  await ground.store(audit, 7);
  assert.deepEqual((await ground.names()).filter((name) => name.endsWith(".jsonl")), [SECOND, OPEN]);
  const against = async (at: number) => {
    const { broken } = await verifyTrail(ground.place, files, { against: heads[at]! });
    return broken?.reason ?? null;
  };
  assert.deepEqual([heads[1]?.seq, await against(1)], [3, null]);
  assert.deepEqual([heads[0]?.seq, await against(0)], [1, "against"]);
});

test("a head kept elsewhere shows a chain that was made anew, and one that was cut together with its head file", async (t) => {
  const { verify, folder, open, store } = await threeFiles(t);
  const { head } = await verify();
  await store(open().audit, 9);
  assert.equal((await verify(head!)).ok, true);
  for (const name of [FIRST, SECOND, OPEN, "music.head"]) await rm(`${folder}/${name}`);
  const { audit } = open();
  await store(audit, 11, 12);
  assert.equal((await verify()).ok, true);
  assert.deepEqual(shortOf((await verify(head!)).broken!), [OPEN, 2, 2, "cut"]);
  await store(audit, 13, 14, 15, 16, 17, 18, 19);
  assert.deepEqual(shortOf((await verify(head!)).broken!), [OPEN, 8, 8, "against"]);
});

test("processes that write to one trail take turns and make one chain, over all its files", async (t) => {
  const ground: TrailGround = await trailGround(t);
  const writers = [1, 2, 3].map(() => ground.open({ maxBytes: 2000 }).audit);
  await Promise.all(writers.map(async (audit, at) => {
    for (let rate = 0; rate < 20; rate++) await ground.store(audit, at * 100 + rate);
  }));
  const { ok, lines, files: count } = await verifyTrail(ground.place, files);
  assert.deepEqual([ok, lines], [true, 60]);
  assert.ok(count > 3, `${count}`);
});
