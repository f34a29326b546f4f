/**
 * The table of features: what passes through `kaged mcp` as if the client talked to the server itself, and what differs
 * for which reason.
 *
 * @module
 */
import { FEATURES, isSame } from "./features.ts";

/** Feature → why a client sees something else through `kaged mcp`. */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  "server name, title and version": "kaged is the server that the client talks to",
  instructions: "each server's text stands under the name of its plugin: an agent may have several servers",
  "tools/list: name":
    "kaged offers servers no tasks of the client, and server-everything leaves its two tools for them out",
  "environment of the server": "the cage has an environment of its own, and none of the client's",
  "a tool that does not exist":
    "an error of the protocol (-32602), as the revisions ask; the server answers with a result",
  "arguments that the tool refuses": "the host checks them first: also a result with isError, in other words",
  "resources/read: a resource that does not exist": "-32002, as the revisions before 2026 ask; the server sends -32602",
  "a tool that needs a task, called without one":
    "the host calls it as a task itself and waits for the result; the server refuses it",
  "sampling as a task of the client": "no tasks of the client",
  "elicitation as a task of the client": "no tasks of the client",
};

/** A feature that does not do what the table says. */
export interface Surprise {
  readonly feature: string;
  readonly direct: unknown;
  readonly served: unknown;
}

/** Returns the features that differ and have no reason, and those that have one and do not differ. */
export function surprises(direct: ReadonlyMap<string, unknown>, served: ReadonlyMap<string, unknown>): Surprise[] {
  return [...direct.keys()]
    .filter((feature) => isSame(direct.get(feature), served.get(feature)) === Object.hasOwn(DIFFERENCES, feature))
    .map((feature) => ({ feature, direct: direct.get(feature), served: served.get(feature) }));
}

/** Returns the page with the table. */
export function everythingPage(): string {
  const groups = Object.entries(FEATURES).map(([group, features]) => {
    const rows = features.map(({ name }) => {
      const reason = DIFFERENCES[name];
      return `| ${name} | ${reason === undefined ? "passes" : `differs: ${reason}`} |`;
    });
    return [`## ${group}`, "", "| feature | through `kaged mcp` |", "| --- | --- |", ...rows].join("\n");
  });
  const all = Object.values(FEATURES).flat();
  const differing = all.filter(({ name }) => Object.hasOwn(DIFFERENCES, name)).length;
  return `# server-everything through kaged mcp

\`@modelcontextprotocol/server-everything\` has every feature of MCP. This table compares two conversations of one client,
that of the official SDK: with the server itself, and with \`kaged mcp --names short --offer elicitation,sampling,roots\`
in front of the server in its cage, without any capability. A feature passes when the client sees the same, but for ids,
times and the name of the plugin before its questions; before a server may ask the client's model, the host asks the person. ${
    all.length - differing
  } of ${all.length} features pass.

Written by \`npm run mcp:everything\`, which tries them all; \`tests/mcp/everything_table_test.ts\` does so too, and fails
when a feature differs without a reason, or has a reason and does not differ.

${groups.join("\n\n")}
`;
}
