/**
 * Options by which the commands of `kaged audit` choose a trail and its events.
 *
 * @module
 */
import { type Command, Option } from "commander";
import { trailsIn } from "../core/audit/trail_files.ts";
import type { TrailQuery } from "../core/audit/read_trail.ts";
import { HostError } from "../core/errors/host_error.ts";
import type { Files } from "../core/ports/ports.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import { defined } from "../core/values/plain_data.ts";
import { collected } from "./options.ts";

/** Values of the options that choose events. */
export interface EventFlags {
  readonly calls?: boolean;
  readonly type?: readonly string[];
  readonly plugin?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Help of the argument that names a trail. */
export const TRAIL_ARGUMENT: string = "id of the project, or _operator; not needed where the home has one trail";

/** Adds the options that choose events. */
export function addEventOptions(command: Command): Command {
  return command
    .option("--calls", "the trail of calls, hooks and noise instead of the audit trail")
    .addOption(
      new Option("--type <type>", "events of this type; plugin.hook.* for a group; may be repeated")
        .argParser(collected(String)),
    )
    .option("--plugin <name>", "events of this plugin; host for the host's own")
    .option("--agent <path>", "events of this agent, such as primary.subagents.researcher")
    .option("--session <id>", "events of this session")
    .option("--since <time>", "events at this time or later, such as 2026-11-17 or 2026-11-17T08:30:00Z")
    .option("--until <time>", "events before this time");
}

/** Returns the query of the options that choose events. */
export function queryOf({ calls, type, plugin, agent, session, since, until }: EventFlags): TrailQuery {
  return defined({ trail: calls ? "calls" as const : undefined, types: type, plugin, agent, session, since, until });
}

/**
 * Returns the trail that is meant: the named one, or the only one there is.
 *
 * @throws {HostError} `audit.trail_unknown` with the trails of this home.
 */
export async function trailNamed(named: string | undefined, home: string, files: Files): Promise<string> {
  const trails = await trailsIn(home, files);
  if (named !== undefined && trails.includes(named)) return named;
  if (named === undefined && trails.length === 1) return trails[0]!;
  const known = trails.length === 0 ? "No host or command has written here yet" : `Trails: ${trails.join(", ")}`;
  const message = named === undefined
    ? `"${home}" has ${trails.length} audit trails`
    : `"${home}" has no audit trail of "${named}"`;
  const hint = named === undefined ? known : didYouMean(named, trails, known);
  throw new HostError("audit.trail_unknown", message, { data: { trails }, hint });
}
