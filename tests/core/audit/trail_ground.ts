/**
 * A project's trails in a folder of their own, written as a host writes them.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { type Audit, createAudit } from "../../../src/core/audit/audit.ts";
import { chainFile, type ChainFileOptions } from "../../../src/core/audit/chain_file.ts";
import type { AuditSink } from "../../../src/core/audit/events.ts";
import type { Files, Runtime } from "../../../src/core/ports/ports.ts";
import { createFakeClock, type FakeClock } from "../../support/fake_clock.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

/** The runtime of the test. */
export const runtime: Runtime = await detectRuntime();

/** The subject of every event here. */
export const subject = { name: "echo", instance: "echo@music/primary" };

/** The trails of project `music`, and ways to write and look at them. */
export interface TrailGround {
  readonly place: { readonly home: string; readonly project: string };
  readonly clock: FakeClock;
  /** Folder of the audit trail. */
  readonly folder: string;
  /** Opens the trail as another process would. */
  open(
    options?: Partial<ChainFileOptions>,
    files?: Partial<Files>,
  ): { readonly sink: AuditSink; readonly audit: Audit };
  /** Stores events with these numbers, in one write. */
  store(audit: Audit, ...rates: number[]): Promise<void>;
  /** Names of the trail's files. */
  names(): Promise<string[]>;
  /** Parsed lines of a file of the trail. */
  // deno-lint-ignore no-explicit-any
  lines(name?: string): Promise<any[]>;
}

/** Makes an empty home. */
export async function trailGround(t: { after(run: () => Promise<void>): void }): Promise<TrailGround> {
  const place = { home: await scratchDir(t), project: "music" };
  const clock = createFakeClock();
  const folder = `${place.home}/audit`;
  return {
    place,
    clock,
    folder,
    open(options = {}, files = {}) {
      const ports = { files: { ...runtime.files, ...files }, databases: runtime.databases, clock };
      const sink = chainFile({ ...place, runtime: ports, ...options });
      return { sink, audit: createAudit({ clock, sinks: [sink] }) };
    },
    async store(audit, ...rates) {
      for (const rate of rates) audit.emit("plugin.health_fail", subject, { consecutive_failures: rate, error: "" });
      await audit.flush();
    },
    names: async () => (await readdir(folder)).sort(),
    lines: async (name = "music.jsonl") =>
      (await readFile(`${folder}/${name}`, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line)),
  };
}
