/**
 * A plugin that tries to get out of its cage, under hosts run by root and by an ordinary user.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { TestContext } from "node:test";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import type { Files } from "../../src/core/ports/ports.ts";
import { giveToUser, type HostedEnd, type HostedGround, hostedGround, operators } from "./hosted_cage.ts";
import { requireOrSkip } from "./require_or_skip.ts";

const PROGRAM = new URL("../core/cage/fixtures/attacks.py", import.meta.url);

/** One attack: its name in `attacks.py`, then what it is given. */
export type Attack = readonly (string | number)[];

/** How a plugin's attacks ended. */
export interface AttackEnd extends HostedEnd {
  /** One result per attack; empty when the plugin ended before it reported any. */
  readonly results: unknown[];
}

/** A ground with a plugin that attacks. */
export interface Attacker extends HostedGround {
  /** The user who runs the host. */
  readonly who: "root" | "user";
  /** The file system. */
  readonly files: Files;
  /** Runs attacks in one cage; `before` is shell that runs before the host in the same process. */
  attack(attacks: readonly Attack[], manifest?: Partial<Manifest>, before?: string): Promise<AttackEnd>;
}

/** Returns one attacker per operator that can be had here, none where nothing can be caged. */
export async function attackersOf(t: TestContext): Promise<Attacker[]> {
  const attackers: Attacker[] = [];
  for (const { who, exec } of await operators(t)) {
    const ground = await hostedGround(t);
    if (!ground) return [];
    const { dir, places, runtime: { files } } = ground;
    const python = async (): Promise<boolean> => await files.target("/usr/bin/python3") !== null;
    if (!await requireOrSkip(t, "python3", python, "install python3")) return [];
    await files.write(`${places.installDir}/attacks.py`, await readFile(PROGRAM), 0o644);
    attackers.push({
      ...ground,
      who,
      files,
      async attack(attacks, manifest = {}, before = "") {
        if (exec !== "exec") giveToUser(dir);
        const command = ["python3", "attacks.py", JSON.stringify(attacks)];
        const end = await ground.hosted(`${before}${exec} $host`, { command, ...manifest });
        const results = end.out === "" ? [] : JSON.parse(end.out.trim().split("\n").at(-1) ?? "");
        if (end.failure === null) assert.equal(end.exit.code, 0, end.err);
        return { ...end, results };
      },
    });
  }
  return attackers;
}
