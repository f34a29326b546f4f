/**
 * Permission rules of Claude Code, as `if` of a hook has one: `Bash(git push *)`, `Edit(src/**)`, `mcp__github__*`. The
 * rule narrows a hook down to calls of tools. A command that cannot be taken apart fits every rule about commands: a
 * check that runs once too often is better than one that a quotation mark switches off.
 *
 * @module
 */
import type { PatternReader } from "../../core/schema/linear_pattern.ts";
import { mapOf } from "../../core/values/plain_data.ts";
import type { HookEvent } from "../engine/types.ts";
import { type Fact, type FactContext, FACTS } from "./dialects/facts.ts";
import { subcommands } from "./subcommands.ts";

/** A rule: a tool, and what its input must look like. */
export interface PermissionRule {
  readonly tool: string;
  /** The input it wants; absent: any. */
  readonly spec?: string;
}

/** Folders that paths in rules start from. */
export interface RulePlaces {
  /** Folder of the project, absolute. */
  readonly dir: string;
  readonly home?: string | null;
}

/** Returns the one rule in a text, or null when there is none, or several. */
export function parseRule(text: string): PermissionRule | null {
  const [, tool, spec] = /^\s*([\w\-*]+)(?:\(([^]*)\))?\s*$/.exec(text) ?? [];
  if (tool === undefined || (spec !== undefined && spec.trim() === "")) return null;
  if (/\)\s*(?:\|\||&&|,)\s*[\w*]+\(/.test(spec ?? "")) return null; // Two rules, of which this would be the inside.
  return { tool, ...(spec !== undefined && spec !== "*" && { spec: spec.trim() }) };
}

/** A call of a tool, by the name that Claude Code has for it. */
export interface RuledCall {
  readonly tool: string;
  readonly event: HookEvent;
}

const EDITORS = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
const SHELLS = ["Bash", "PowerShell"];

/** Whether a call of a tool fits a rule. */
export function fitsRule(
  { tool, spec }: PermissionRule,
  call: RuledCall,
  places: RulePlaces,
  patterns: PatternReader,
): boolean {
  const fits = (pattern: string, text: string): boolean => {
    const read = patterns.read(pattern);
    return "problem" in read || read.test(text);
  };
  const isTool = tool === call.tool || (tool === "Edit" && EDITORS.includes(call.tool)) ||
    (tool.includes("*") && fits(`^${wild(tool)}$`, call.tool));
  if (!isTool) return false;
  if (spec === undefined) return true;
  const { event } = call;
  if (SHELLS.includes(call.tool)) return fitsCommand(spec, text(FACTS.command, event), call.tool, fits);
  if (call.tool === "WebFetch" && spec.startsWith("domain:")) return fitsDomain(spec.slice(7), event);
  const [, param, value] = /^(\w+):([^]*)$/.exec(spec) ?? [];
  const input = mapOf({ input: event.input }, "input");
  if (param !== undefined && Object.hasOwn(input, param)) return fits(`^${wild(value!)}$`, String(input[param]));
  const path = text(FACTS.filePath, event);
  return path !== "" && fits(`^${pathPattern(spec, places)}$`, path.startsWith("/") ? path : `${places.dir}/${path}`);
}

type Fits = (pattern: string, text: string) => boolean;

/** Facts of the event alone need no more than the event. */
const text = (fact: Fact, event: HookEvent): string => String(fact({ event } as FactContext));

/** Whether one of the commands in a line fits: `*` stands for anything, and ` *` at the end also for nothing. */
function fitsCommand(spec: string, line: string, shell: string, fits: Fits): boolean {
  const parts = subcommands(line);
  if (parts === null) return true;
  const pattern = spec.replace(/:\*$/, " *");
  const isBareName = !/\s/.test(pattern.replace(/ \*$/, ""));
  // The shell fills these in: nobody knows what the command will be.
  if (!isBareName && /\$\(|`|\$[\w{]/.test(line)) return true;
  const end = pattern.endsWith(" *") ? `${wild(pattern.slice(0, -2))}(?: ${ANYTHING})?` : wild(pattern);
  const flags = shell === "PowerShell" ? (s: string): string => s.toLowerCase() : (s: string): string => s;
  return parts.some((part) => fits(flags(`^${end}$`), flags(part)));
}

function fitsDomain(domain: string, event: HookEvent): boolean {
  const { url } = mapOf({ input: event.input }, "input");
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return domain.startsWith("*.") ? hostname.endsWith(domain.slice(1)) : hostname === domain;
}

/** Any number of any characters, as a pattern. */
const ANYTHING = "[\\s\\S]*";

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** A text in which `*` stands for anything. */
const wild = (text: string): string => text.split("*").map(escaped).join(ANYTHING);

/**
 * A path as `.gitignore` has it: `//` from the root, `~/` from the home, `/` and `./` from the project, a bare name at
 * any depth.
 */
function pathPattern(spec: string, { dir, home }: RulePlaces): string {
  let [root, rest] = [dir, spec];
  if (spec.startsWith("//")) [root, rest] = ["", spec.slice(2)];
  else if (spec.startsWith("~/")) [root, rest] = [home ?? "/home", spec.slice(2)];
  else if (spec.startsWith("/")) rest = spec.slice(1);
  else if (spec.startsWith("./")) rest = spec.slice(2);
  else if (!spec.includes("/")) rest = `**/${spec}`;
  const parts = rest.split(/(\*\*\/|\/\*\*$|\*\*|\*|\?)/).map((part) => {
    if (part === "**/") return `(?:${ANYTHING}/)?`;
    if (part === "/**") return `/${ANYTHING}`;
    if (part === "**") return ANYTHING;
    return part === "*" ? "[^/]*" : part === "?" ? "[^/]" : escaped(part);
  });
  return `${escaped(root)}/${parts.join("")}`;
}
