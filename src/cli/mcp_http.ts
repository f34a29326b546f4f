/**
 * `kaged mcp --http`: runs a project's plugins and serves an agent to MCP clients at an address.
 *
 * @module
 */
import { resolve } from "node:path";
import { HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { isToken, readTokenFile } from "../http/token.ts";
import type { Host } from "../host/types.ts";
import type { McpFlags } from "./mcp_serve_flags.ts";
import { addTrustedHooks } from "./hook_places.ts";
import { interruptible, unlessAborted, untilAborted } from "./interrupt.ts";
import type { Terminal } from "./terminal.ts";
import { openHost, pluginsUp, warnOfMissing } from "./with_host.ts";

const DEFAULT_PORT = 4718;
const TOKEN_VARIABLE = "KAGED_MCP_TOKEN";

/** Serves until the process is asked to end. */
export async function serveOverHttp(flags: McpFlags, terminal: Terminal): Promise<void> {
  const [{ serveMcp }, { openSeat }, { readOperatorConfig }] = await Promise.all([
    import("../mcp/serve_http.ts"),
    import("../mcp/serve_http_host.ts"),
    import("../core/project/operator_config.ts"),
  ]);
  const { agent, hooks, names, offer, host: hostname = "127.0.0.1", port = DEFAULT_PORT } = flags;
  const runtime = await terminal.runtime();
  await interruptible(async (signal) => {
    await using host = await openHost(flags, terminal, { mcp: { offers: offer } });
    // Throws for an unknown agent, before any plugin is started.
    host.plugins(agent);
    await using _hooks = await addTrustedHooks(host, runtime, terminal);
    const { home } = host.view;
    const { http: { allowed_hosts: allowedHosts = [] } } = await readOperatorConfig(home, runtime.files);
    const { token, file } = await tokenOf(flags, { home, runtime, cwd: terminal.cwd });
    const tokenPlace = file ?? TOKEN_VARIABLE;
    // Listen before plugins start: a taken address then fails at once.
    const served = await serveMcp({
      runtime,
      hostname,
      port,
      guard: { token, tokenPlace, allowedHosts: allowedHosts.map((name) => name.toLowerCase()) },
      open: () => openSeat({ host, agent, hooks, names }),
    });
    try {
      if (!/^http:\/\/(127\.|localhost|\[::1\])/.test(served.url)) {
        terminal.err.warning(`other machines can reach ${served.url}; the token is sent in clear`);
      }
      if (await started(host, { flags, terminal, signal, url: served.url, file })) await untilAborted(signal);
    } finally {
      await served.close();
    }
  });
}

/** Starts the plugins and prints the address; returns false when it was interrupted before. */
async function started(
  host: Host,
  { flags, terminal: { out, err }, signal, url, file }: {
    readonly flags: McpFlags;
    readonly terminal: Terminal;
    readonly signal: AbortSignal;
    readonly url: string;
    readonly file: string | null;
  },
): Promise<boolean> {
  const outcome = await unlessAborted(host.start(), signal).catch((error) => {
    if (signal.aborted) return null; // The end of the host ends its start as well.
    throw error;
  });
  if (outcome === null) return false;
  const { running, resting, failed, pending } = outcome;
  warnOfMissing({ failed, pending }, err);
  const { id } = host.view.project;
  if (flags.json) {
    const down = failed.map(({ instance, error: { code, message } }) => ({ instance, code, message }));
    const facts = { url, token_file: file, project: id, agent: flags.agent, running, resting, failed: down };
    out.json(facts, { isLine: true });
  } else {
    out.line(`${id}: ${pluginsUp({ running, resting })}`);
    out.line(`MCP: ${url} (the token is in ${file ?? TOKEN_VARIABLE})`);
  }
  return true;
}

/** Returns the token that clients send, and the file it is in; null where the environment has it. */
async function tokenOf(
  { tokenFile }: McpFlags,
  { home, runtime, cwd }: { readonly home: string; readonly runtime: Runtime; readonly cwd: string },
): Promise<{ readonly token: string; readonly file: string | null }> {
  const given = runtime.env(TOKEN_VARIABLE) || null;
  if (given !== null && tokenFile !== undefined) {
    throw new HostError("host.misuse", `There are two tokens: --token-file and ${TOKEN_VARIABLE}`, {
      hint: `Leave --token-file out, or unset ${TOKEN_VARIABLE}`,
    });
  }
  if (given === null) {
    // Not the token of the HTTP API: that is the operator's own and can do more than call tools.
    const file = tokenFile === undefined ? `${home}/mcp_token` : resolve(cwd, tokenFile);
    return { token: await readTokenFile(file, runtime), file };
  }
  if (isToken(given)) return { token: given, file: null };
  throw new HostError("host.misuse", `${TOKEN_VARIABLE} is no token: 32 to 200 letters, digits, - and _`, {
    hint: `Unset ${TOKEN_VARIABLE} to have a token made`,
  });
}
