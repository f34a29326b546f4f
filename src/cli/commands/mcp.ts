/**
 * `kaged mcp`: the tools of an agent for any MCP client, over standard input and output.
 *
 * @module
 */
import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { addPlaceOptions, collected } from "../options.ts";
import { addTrustedHooks } from "../hook_places.ts";
import { addAgentOptions, type HostFlags, withHost } from "../with_host.ts";

interface McpFlags extends HostFlags {
  readonly hooks: boolean;
}

/** Adds `kaged mcp` to the command line. */
export function addMcp(parent: Command, terminal: Terminal): void {
  const command = parent.command("mcp")
    .summary("serve an agent's tools to an MCP client")
    .description(
      "Starts the plugins of a project and serves the tools of an agent as an MCP server over standard input and " +
        "output, until the input ends.\nEvery call passes the hooks of the plugins and of hook files that you trust. " +
        "Logs of plugins go to standard error.",
    );
  addPlaceOptions(addAgentOptions(command))
    .option("--hookspec <dir>", HOOKSPEC_HELP, collected(String))
    .option("--no-hooks", "do not serve the hooks that their hookspec exposes, such as tool.<plugin>.execute")
    .addHelpText("after", EXAMPLES)
    .action((flags: McpFlags) => serve(flags, terminal));
}

const HOOKSPEC_HELP = "folder of a hookspec whose kinds plugins implement; may be repeated";

const EXAMPLES = `
Examples:
  kaged mcp --project .
  kaged mcp --project . --agent primary.subagents.researcher --plugin @acme/search=./search
In the configuration of an MCP client:
  { "mcpServers": { "music": { "command": "kaged", "args": ["mcp", "--project", "/home/ada/music"] } } }`;

async function serve(flags: McpFlags, terminal: Terminal): Promise<void> {
  const [{ serveHost }, { stdioTransport }] = await Promise.all([
    import("../../mcp/serve_host.ts"),
    import("../../mcp/stdio.ts"),
  ]);
  const transport = await stdioTransport();
  try {
    await withHost(flags, terminal, async (host, session) => {
      await using _hooks = await addTrustedHooks(host, await terminal.runtime(), terminal);
      const served = await serveHost({ host, agent: flags.agent, session, transport, hooks: flags.hooks });
      await served.closed;
    });
  } finally {
    await transport.close();
  }
}
