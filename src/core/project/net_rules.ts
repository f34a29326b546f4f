/**
 * `[[net_rules]]` of config.toml: which requests of a plugin reach a host, and how many bytes a minute.
 *
 * @module
 */
import type { NetLimit } from "../cage/net/bound_secret.ts";
import type { DocumentIssue } from "../documents/document_report.ts";
import { Fields, LIST } from "../documents/fields.ts";
import { parseCapability } from "../manifest/capability.ts";
import { hostAndPort } from "../manifest/secret_rules.ts";
import { shown } from "../values/shown_value.ts";
import { readSettings, rule, type SettingProblem, type SettingRules, wholeNumber } from "./setting_rules.ts";

/** A limit on the requests of one plugin. */
export interface NetRule extends NetLimit {
  /** Name or package of the plugin. */
  readonly plugin: string;
  /** Where the file names plugin and host. */
  readonly written: { readonly plugin: RulePlace; readonly host: RulePlace };
}

/** A place in the file. */
export type RulePlace = Pick<DocumentIssue, "file" | "line" | "column" | "path">;

const KIB = 1024;
const someText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const kibibytes = wholeNumber(1, Number.MAX_SAFE_INTEGER / KIB, "It is not a whole number of KiB above 0");

/** The rules of the keys in one table of `[[net_rules]]`. */
const KEYS: SettingRules<keyof Written> = {
  plugin: rule("text", someText, "It names no plugin", 'Write plugin = "github", or the package of the plugin'),
  host: { kind: "text", problem: hostProblem },
  methods: rule("list", (name) => /^[A-Z][A-Z-]*$/.test(String(name)), "It is no HTTP method", 'Write "GET"'),
  paths: rule("list", (path) => String(path).startsWith("/"), "It does not begin with /", 'Write "/repos/*"'),
  up_kib_per_min: kibibytes,
  down_kib_per_min: kibibytes,
};

/** One table as it is written. */
interface Written {
  readonly plugin?: string;
  readonly host?: string;
  readonly methods?: readonly string[];
  readonly paths?: readonly string[];
  readonly up_kib_per_min?: number;
  readonly down_kib_per_min?: number;
}

/** Keys of a rule that limit something. */
const LIMITS = ["methods", "paths", "up_kib_per_min", "down_kib_per_min"];

/** Returns the rules of a config; each mistake is reported at its place. A rule that is wrong would limit nothing. */
export function readNetRules(root: Fields): NetRule[] {
  return (root.get("net_rules", LIST) ?? []).flatMap((item, index) => {
    const table = new Fields(item, [...root.at("net_rules"), index], root.report);
    const written = readSettings(table, KEYS) as Written;
    const { plugin, host, methods = null, paths = null, up_kib_per_min: up, down_kib_per_min: down } = written;
    if (!table.isMap) return [];
    for (const key of ["plugin", "host"]) if (!table.has(key)) report(table, `Field ${shown(key)} is missing`);
    for (const key of ["methods", "paths"]) {
      if (Array.isArray(table.data[key]) && table.data[key].length === 0) {
        table.error("invalid_value", key, {
          message: "An empty list would refuse every request",
          hint: "Leave it out",
        });
      }
    }
    if (!LIMITS.some((key) => table.has(key))) {
      report(table, "The rule limits nothing", `Add one of: ${LIMITS.join(", ")}`);
    }
    if (plugin === undefined || host === undefined) return [];
    const bytes = { upBytesPerMinute: bytesOf(up), downBytesPerMinute: bytesOf(down) };
    const place = (key: string): RulePlace => table.report.issue("config.invalid_value", table.at(key));
    const places = { plugin: place("plugin"), host: place("host") };
    return [{ plugin, ...hostAndPort(canonical(host)!), methods, paths, ...bytes, written: places }];
  });
}

const NO_LIMITS: readonly NetLimit[] = [];

/** Returns the limits on the requests of a plugin, whichever way a rule names it. */
export function netLimitsOf(
  rules: readonly NetRule[],
  one: { readonly plugin: string; readonly package: string },
): readonly NetLimit[] {
  if (rules.length === 0) return NO_LIMITS;
  const isMeant = ({ plugin }: NetRule): boolean => plugin === one.plugin || plugin === one.package;
  return rules.filter(isMeant).map(({ plugin: _, written: __, ...limit }) => limit);
}

function report(table: Fields, message: string, hint?: string): void {
  table.report.error("config.invalid_value", table.path, { message, ...(hint !== undefined && { hint }) });
}

const bytesOf = (kib: number | undefined): number | null => kib === undefined ? null : kib * KIB;

function canonical(host: unknown): string | null {
  const read = parseCapability(`net:${host}`);
  if (!read.ok || read.capability.kind !== "net" || read.capability.scope !== "host") return null;
  return read.capability.port === "*" ? null : `${read.capability.host}:${read.capability.port}`;
}

function hostProblem(value: unknown): SettingProblem | null {
  if (canonical(value) !== null) return null;
  return { message: `${shown(value)} is no host with its port`, hint: 'Write host = "api.example.org:443"' };
}
