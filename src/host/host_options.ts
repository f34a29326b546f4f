/**
 * The options of a host, checked before anything is made of them.
 *
 * @module
 */
import {
  ANYTHING,
  checkOptions,
  FUNCTION,
  listOf,
  mapOf,
  OBJECT,
  oneOf,
  type OptionCheck,
  type OptionChecks,
  POSITIVE,
  SWITCH,
  TEXT,
} from "../core/values/check_options.ts";
import type { HostOptions } from "./types.ts";

const OPERATOR: OptionCheck = { wanted: "a text or null", fits: (value) => value === null || TEXT.fits(value) };

const PLUGINS_FROM: OptionCheck = {
  wanted: '"node_modules" or { folder: a text that is not empty }',
  fits: (value) =>
    value === "node_modules" || (OBJECT.fits(value) && TEXT.fits((value as { folder?: unknown }).folder)),
};

const HOOK_FILES: OptionCheck = {
  wanted: "true, false or an object",
  fits: (value) => SWITCH.fits(value) || OBJECT.fits(value),
};

const CHECKS: OptionChecks<HostOptions> = {
  project: TEXT,
  home: TEXT,
  operatorId: OPERATOR,
  plugins: mapOf(TEXT),
  pluginsFrom: PLUGINS_FROM,
  hookspecs: listOf(TEXT),
  runtime: OBJECT,
  js: TEXT,
  record: TEXT,
  limits: { fields: { memory_mb: POSITIVE, cpu_shares: POSITIVE, pids: POSITIVE } },
  idleWindowMs: POSITIVE,
  summarize: FUNCTION,
  countTokens: FUNCTION,
  events: { fields: { level: oneOf("summary", "trace") } },
  tracing: ANYTHING,
  jobs: OBJECT,
  waitUntil: FUNCTION,
  onAsk: FUNCTION,
  hooks: { fields: { onTrace: FUNCTION, injectBudgetBytes: POSITIVE, turnMarkers: listOf(TEXT) } },
  hookFiles: HOOK_FILES,
  audit: listOf(ANYTHING),
  mcp: { fields: { offers: listOf(oneOf("elicitation", "sampling", "roots")), client: OBJECT } },
  onLog: FUNCTION,
  control: SWITCH,
  onWarning: FUNCTION,
};

/** Throws `host.option_invalid` for an option that there is not, and for one whose value it cannot have. */
export function checkHostOptions(options: HostOptions): void {
  checkOptions("createHost()", options, CHECKS);
}
