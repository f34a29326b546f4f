/**
 * The tables of docs/hook-files.md, as the descriptions of the dialects say them.
 *
 * @module
 */
import { DIALECTS } from "../../src/hooks/files/dialects/all.ts";
import type { DialectEvent, DialectSpec } from "../../src/hooks/files/dialects/types.ts";
import { PORTABLE_HOOKS } from "../../src/hooks/engine/names.ts";

/** The dialects with a column of their own, in the order of the guide. */
export const SHOWN = ["claude", "copilot", "codex", "cursor", "gemini", "windsurf", "opencode"] as const;

type Rows = readonly (readonly string[])[];
const specs: readonly DialectSpec[] = SHOWN.map((name) => DIALECTS[name]);
const code = (names: readonly string[]): string =>
  names.map((name) => `\`${name.replaceAll("|", "\\|")}\``).join(", ") || "–";

/** Where files are, and how they look. */
export function placesTable(): Rows {
  const rows = SHOWN.map((name, at) => {
    const { places, format, entry, version } = specs[at]!;
    const shapes = { flat: "alone", nested: "in groups", both: "alone or in groups" };
    const versions = { none: "–", optional: "1 or none", forbidden: "none" };
    return [
      `\`${name}\``,
      code(places.project),
      code(places.user.map((place) => `~/${place}`)),
      code(places.plugin),
      code(places.managed),
      format.toUpperCase(),
      versions[version],
      name === "opencode" ? "its own two forms" : shapes[entry.shape],
    ];
  });
  return [[
    "",
    "in a repository",
    "in your home",
    "in a plugin",
    "not read: an administrator's",
    "format",
    "`version`",
    "hooks stand",
  ], ...rows];
}

/** The names of each moment. */
export function momentsTable(): Rows {
  const at = (isMeant: (event: DialectEvent) => boolean): string[] =>
    specs.map(({ events }) => code(Object.entries(events).filter(([, event]) => isMeant(event)).map(([name]) => name)));
  const rows = PORTABLE_HOOKS.map((hook) => [`\`${hook}\``, ...at((event) => event.hook === hook && !event.turnEnd)]);
  return [["", ...SHOWN], ...rows, ["end of a turn", ...at((event) => event.turnEnd === true)]];
}

/** What exit code 2 does at each moment. */
export function exitsTable(): Rows {
  const words = {
    block: "**blocks**",
    tell: "to the model",
    show: "to the user",
    replace: "replaces the output",
    ignore: "nothing",
  };
  const at = (isMeant: (event: DialectEvent) => boolean): string[] =>
    specs.map(({ events }) => {
      const effects = Object.values(events).filter(isMeant).map(({ exit2 }) => words[exit2]);
      return [...new Set(effects)].join(" or ") || "–";
    });
  const rows = PORTABLE_HOOKS.filter((hook) => hook !== "OnBudgetExceeded").map((hook) => [
    `\`${hook}\``,
    ...at((event) => event.hook === hook && !event.turnEnd),
  ]);
  return [["", ...SHOWN], ...rows, ["end of a turn", ...at((event) => event.turnEnd === true)]];
}

/** Timeouts, matchers, answers. */
export function entriesTable(): Rows {
  const of = (text: (spec: DialectSpec) => string): string[] => specs.map(text);
  return [
    ["", ...SHOWN],
    [
      "timeout",
      ...of(({ entry, timeoutMs }) => {
        if (entry.timeout.length === 0) return `none there; ${timeoutMs / 1000} s`;
        const unit = entry.unitMs === 1 ? "ms" : "s";
        return `${code(entry.timeout)}, ${unit}; ${timeoutMs / entry.unitMs}`;
      }),
    ],
    [
      "other default",
      ...of(({ events }) => {
        const own = Object.entries(events).filter(([, { timeoutMs }]) => timeoutMs !== undefined);
        return own.map(([name, { timeoutMs }]) => `\`${name}\` ${timeoutMs! / 1000} s`).join(", ") || "–";
      }),
    ],
    [
      "matcher",
      ...of(({ matcher, events }) => {
        if (Object.values(events).every(({ matches }) => matches === null)) return "none";
        const names = matcher.names === null ? "" : "names, or ";
        return `${names}pattern ${matcher.anchored ? "of the whole" : "anywhere"}`;
      }),
    ],
    [
      "other types",
      ...of(({ entry }) => code(Object.entries(entry.types).filter(([, is]) => is === "runs").map(([type]) => type))),
    ],
    ["exit 2 needs text", ...of(({ exits }) => exits.needsText ? "yes" : exits.ignored ? "means nothing" : "no")],
    ["other exit codes", ...of(otherCodes)],
    ["`async`", ...of(({ exits }) => exits.later ? "text comes later" : "text not read")],
    ["new input", ...of(({ answers }) => code(answers.input))],
    ["new output", ...of(({ answers }) => code(answers.output))],
    ["a mistake in a hook", ...of(({ badEntry }) => badEntry === "entry" ? "leaves it out" : "voids the file")],
    ["left out", ...of(({ leftOut }) => code(Object.keys(leftOut)))],
  ];
}

function otherCodes({ exits, events }: DialectSpec): string {
  if (exits.ignored) return "mean nothing";
  const blocking = Object.entries(events).filter(([, { otherExit }]) => otherExit === "block").map(([name]) => name);
  const words = [
    ...(exits.jsonAnyCode ? ["JSON counts"] : []),
    ...(exits.aboveTwo ? ["above 2 as 2"] : []),
    ...(blocking.length > 0 ? [`${code(blocking)} **blocks**`] : []),
    "failed",
  ];
  return words.join(", else ");
}

/** Returns the rows as the guide writes them, without its spaces. */
export const bare = (rows: Rows): string[] => rows.map((row) => `|${row.join("|")}|`.replace(/\s+/g, ""));

/** Returns the rows as Markdown. */
export const markdown = ([head, ...rows]: Rows): string =>
  [head!, head!.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
