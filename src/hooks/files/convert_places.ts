/**
 * The moments of another dialect at which a hook does the same, with its matcher in the names of tools that are used
 * there.
 *
 * @module
 */
import { type CommandDialect, DIALECTS, eventOf, toolNames } from "./dialects/all.ts";
import type { ToolKind } from "./dialects/tool_names.ts";
import type { DialectEvent, DialectSpec, EventFilter } from "./dialects/types.ts";
import { nativeName } from "./event_names.ts";
import type { FileHook } from "./types.ts";

/** A moment of another dialect. */
export interface ConvertedPlace {
  readonly name: string;
  readonly matcher?: string;
  /** Differences of this place. */
  readonly notes: readonly string[];
}

type Kind = ToolKind | "mcp";
const NO_KINDS: readonly EventFilter[] = ["succeeded", "toolFailed", "noTool", "topLevel"];
const isKind = (filter: EventFilter): filter is Kind => !NO_KINDS.includes(filter);
const kindsOf = ({ only = [] }: DialectEvent): Kind[] => only.filter(isKind);

/** Returns the moments at which a hook is written in another dialect; none when it has no such moment. */
export function convertedPlaces(hook: FileHook, to: CommandDialect): ConvertedPlace[] {
  const spec = DIALECTS[to];
  const { matcher } = hook;
  const own = { ...(matcher !== undefined && { matcher }), notes: [] };
  if (DIALECTS[hook.dialect] === spec) return [{ name: hook.nativeName, ...own }];
  const moment = eventOf(hook);
  const candidates = Object.entries(spec.events).filter(([, event]) =>
    event.hook === moment.hook && event.turnEnd === moment.turnEnd
  );
  const known = candidates.some(([name]) => name === hook.nativeName) ? hook.nativeName : preferred(moment, to);
  const kinds = kindsOf(moment).length > 0 ? kindsOf(moment) : matchedKinds(hook);
  const whole = candidates.filter(([, event]) => kindsOf(event).length === 0).map(([name]) => name);
  const name = whole.includes(known ?? "") ? known! : whole[0];
  if (name !== undefined) return [{ name, ...converted(hook, moment, spec) }];
  // A dialect whose moments are for kinds of tools: those that fit, or all.
  const fitting = candidates.filter(([, event]) =>
    kinds === null || kindsOf(event).some((kind) => kinds.includes(kind))
  );
  const lost = matcher !== undefined && kinds === null ? [`"matcher": ${spec.title} has none`] : [];
  return fitting.map(([each]) => ({ name: each, notes: lost }));
}

/** The name that the agent itself documents first. */
function preferred({ hook, turnEnd }: DialectEvent, to: CommandDialect): string | null {
  if (DIALECTS[to] === DIALECTS.copilot) {
    if (hook === "SessionEnd") return turnEnd ? "Stop" : "sessionEnd";
    return nativeName(hook, "copilot");
  }
  return DIALECTS[to] === DIALECTS.claude ? nativeName(hook, "claude") : null;
}

/** Returns the kinds of tools that a matcher of plain names is for; null when it is for others, or for all. */
function matchedKinds(hook: FileHook): Kind[] | null {
  const names = namesIn(hook);
  if (names === null) return null;
  const kinds = names.map((name) => toolNames(name, hook)).map(({ kind, mcp }) =>
    kind ?? (mcp ? "mcp" as const : null)
  );
  return kinds.every((kind) => kind !== null) ? kinds : null;
}

/** Returns the plain names that a matcher is made of; null when it is none, or a pattern. */
function namesIn({ matcher, dialect, nativeName, hook }: FileHook): string[] | null {
  if (matcher === undefined || eventOf({ dialect, nativeName, hook }).matches !== "tool") return null;
  const bare = matcher.replace(/^\^?(?:\(\?:)?([\w|]+)\)?\$?$/, "$1");
  return /^[\w|]+$/.test(bare) ? bare.split("|") : null;
}

/** Returns the matcher of a hook in the names of another dialect. */
function converted(hook: FileHook, moment: DialectEvent, spec: DialectSpec): Omit<ConvertedPlace, "name"> {
  const { matcher } = hook;
  const kinds = kindsOf(moment);
  if (kinds.length > 0) {
    const names = [
      ...new Set(kinds.flatMap((kind) => kind === "mcp" ? mcpPattern(spec) : spec.tools[kind]?.[0] ?? [])),
    ];
    const notes = matcher === undefined
      ? []
      : [`"matcher": ${matcher} is about the call itself there, and is left out`];
    return { matcher: names.join("|"), notes };
  }
  const names = namesIn(hook);
  if (matcher === undefined) return { notes: [] };
  if (names === null) {
    return { matcher, notes: moment.matches === "tool" ? ['"matcher": tools have other names there'] : [] };
  }
  const target = Object.entries(DIALECTS).find(([, each]) => each === spec)![0] as CommandDialect;
  const isCopilot = spec === DIALECTS.copilot;
  const mapped = names.map((name) => isCopilot ? name : toolNames(name, { dialect: target, nativeName: "" }).native);
  return { matcher: [...new Set(mapped)].join("|"), notes: [] };
}

const mcpPattern = ({ mcpTool }: DialectSpec): string => mcpTool.replace("{server}", ".*").replace("{tool}", ".*");
