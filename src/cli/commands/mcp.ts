/**
 * `kaged mcp`: an agent's tools, resources and prompts for any MCP client, over standard input and output or over HTTP.
 *
 * @module
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { CLIENT_OFFERS, type ClientOffer } from "../../core/mcp/peer.ts";
import { addTrustedHooks } from "../hook_places.ts";
import { addPlaceOptions, collected, wholeNumber } from "../options.ts";
import type { Terminal } from "../terminal.ts";
import type { McpFlags } from "../mcp_serve_flags.ts";
import { withHost } from "../with_host.ts";

/** Adds `kaged mcp` to the command line, and returns it. */
export function addMcp(parent: Command, terminal: Terminal): Command {
  const command = parent.command("mcp")
    .summary("serve an agent to MCP clients")
    .description(
      "Starts the plugins of a project and serves the tools, resources and prompts of an agent as an MCP server: over " +
        "standard input and output, until the input ends, or with --http over HTTP, until Ctrl-C.\nEvery call passes " +
        "the hooks of the plugins and of hook files that you trust. Logs of plugins go to standard error.",
    )
    // Not required by the parser: the commands below this one have places of their own.
    .option("--project <dir>", "folder that holds project.yaml (required)")
    .option("--agent <path>", "agent, such as primary.subagents.researcher", "primary")
    .option("-q, --quiet", "do not show the plugins' logs");
  return addHttpOptions(addPlaceOptions(command))
    .option(
      "--hookspec <dir>",
      "folder of a hookspec whose kinds plugins implement; may be repeated",
      collected(String),
    )
    .option("--no-hooks", "do not serve the hooks that their hookspec exposes, such as tool.<plugin>.execute")
    .addOption(
      new Option("--names <style>", "long: <plugin>__<tool>; short: a server's own name where only one plugin has it")
        .choices(["long", "short"]).default("long"),
    )
    .addOption(
      new Option("--offer <parts>", `what plugins that are MCP servers may ask the client for: ${OFFERS}, by commas`)
        .argParser(parseOffers).default([], "nothing"),
    )
    .addHelpText("after", EXAMPLES)
    .action((flags: McpFlags) => serve(flags, terminal));
}

function addHttpOptions(command: Command): Command {
  return command
    .option("--http", "serve over HTTP (Streamable HTTP); without --host only this machine can reach it")
    .option(
      "--port <number>",
      "with --http: port to listen at, 0 for any that is free (default: 4718)",
      wholeNumber("a number from 0 to 65535", 0, 65_535),
    )
    .option("--host <address>", "with --http: address to listen at (default: 127.0.0.1)")
    .option(
      "--token-file <file>",
      "with --http: file with the token that clients send, made when missing (default: $KAGED_MCP_TOKEN itself, else " +
        "mcp_token in the operator's folder)",
    )
    .option("--json", "with --http: print the address as JSON");
}

const OFFERS = CLIENT_OFFERS.join(", ");

const EXAMPLES = `
Examples:
  kaged mcp --project .
  kaged mcp --project . --agent primary.subagents.researcher --plugin @acme/search=./search
  kaged mcp --project . --http --port 0
In the configuration of an MCP client:
  { "mcpServers": { "music": { "command": "kaged", "args": ["mcp", "--project", "/home/ada/music"] } } }
With --http and --json it prints { "url", "token_file", "project", "agent", "running", "resting", "failed" } once it listens.`;

/** Reads a list of parts by commas. */
function parseOffers(text: string): ClientOffer[] {
  const parts = text.split(",").map((part) => part.trim()).filter((part) => part !== "");
  const unknown = parts.find((part) => !CLIENT_OFFERS.some((offer) => offer === part));
  if (unknown !== undefined) throw new InvalidArgumentError(`"${unknown}" is none of ${OFFERS}`);
  return [...new Set(parts as ClientOffer[])];
}

async function serve(flags: McpFlags, terminal: Terminal): Promise<void> {
  checkFlags(flags);
  if (flags.http) {
    const { serveOverHttp } = await import("../mcp_http.ts");
    return await serveOverHttp(flags, terminal);
  }
  const [{ serveHost }, { stdioTransport }] = await Promise.all([
    import("../../mcp/serve_host.ts"),
    import("../../mcp/stdio.ts"),
  ]);
  const { agent, hooks, names, offer } = flags;
  const transport = await stdioTransport();
  try {
    await withHost(flags, terminal, async (host, session) => {
      await using _hooks = await addTrustedHooks(host, await terminal.runtime(), terminal);
      const served = await serveHost({ host, agent, session, transport, hooks, names });
      await served.closed;
    }, { mcp: { offers: offer } });
  } finally {
    await transport.close();
  }
}

/** Throws `host.misuse` for options that do not go together. */
function checkFlags({ project, http, port, host, tokenFile, json }: Partial<McpFlags>): void {
  if (project === undefined) {
    throw new HostError("host.misuse", "Required option '--project <dir>' not specified", {
      hint: "Add --help to see what it takes",
    });
  }
  const [idle] = Object.entries({ "--port": port, "--host": host, "--token-file": tokenFile, "--json": json })
    .filter(([, value]) => value !== undefined);
  if (http || !idle) return;
  throw new HostError(
    "host.misuse",
    `${idle[0]} is about --http, and standard output carries the protocol without it`,
    {
      hint: `Add --http, or leave ${idle[0]} out`,
    },
  );
}
