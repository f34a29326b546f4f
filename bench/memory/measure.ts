/**
 * Run once on each runtime; prints its figures as one line of JSON.
 *
 * Usage: measure.ts <rounds>
 *
 * @module
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Desk, openingText, recall, retain } from "../../plugins/memory-markdown/src/memories.ts";
import { formatMemory, idOf } from "../../plugins/memory-markdown/src/memory_file.ts";
import { MemoryStore } from "../../plugins/memory-markdown/src/memory_store.ts";
import { settingsOf } from "../../plugins/memory-markdown/src/settings.ts";

const MEMORIES = 10_000;
const rounds = Number(process.argv[2] ?? "3");
const words = "the deploy target importer reads csv files worker cloudflare database index release monday review".split(
  " ",
);
const now = "2026-05-01T08:00:00.000Z";

/** The same sentences every time: 12 words out of 2,000. */
function sentence(index: number): string {
  let seed = index * 2_654_435_761 % 4_294_967_296;
  const next = (): number => seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
  return Array.from({ length: 12 }, () => next() % 10 < 3 ? words[next() % words.length] : `word${next() % 2000}`).join(
    " ",
  );
}

function fill(dir: string): void {
  for (let index = 0; index < MEMORIES; index++) {
    const content = `${sentence(index)} number ${index}`;
    const tags = [`tag${index % 50}`];
    const text = formatMemory({ id: "", kind: "fact", content, tags, created: now });
    writeFileSync(join(dir, `${idOf(content)}.md`), text);
  }
}

const open = (dir: string): Desk => ({
  store: new MemoryStore(dir, () => {}),
  settings: settingsOf({}),
  session: null,
  now,
});

/** Best of all rounds, in milliseconds. */
function best(work: () => void): number {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...times);
}

const dir = mkdtempSync(join(tmpdir(), "kaged-bench-"));
try {
  fill(dir);
  const past = new Date(Date.now() - 60_000);
  utimesSync(dir, past, past); // A folder that has come to rest, as it is between two sessions.
  const query = { query: "which deploy target does the importer use" };
  const desk = open(dir);
  recall(query, desk);
  const scan = (): void => {
    const texts = readdirSync(dir).map((name) => readFileSync(join(dir, name), "utf8").toLowerCase());
    texts.filter((text) => text.includes("deploy") || text.includes("target") || text.includes("importer"));
  };
  const recallMs = best(() => recall(query, desk));
  let count = 0;
  console.log(JSON.stringify({
    [`recall among ${MEMORIES} memories`]: { ours: recallMs, again: best(() => recall(query, desk)), scan: best(scan) },
    [`first recall: read and index ${MEMORIES} files`]: {
      ours: best(() => recall(query, open(dir))),
      scan: best(scan),
    },
    [`session start with ${MEMORIES} memories`]: { ours: best(() => openingText(desk)) },
    [`retain one more beside ${MEMORIES}`]: { ours: best(() => retain({ content: `fresh fact ${count++}` }, desk)) },
  }));
} finally {
  rmSync(dir, { recursive: true });
}
