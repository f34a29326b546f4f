/**
 * `kaged mcp login` and `kaged mcp logout`: the operator's login at an MCP server elsewhere.
 *
 * @module
 */
import type { Command } from "commander";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { notifyHosts } from "../../http/running_hosts.ts";
import { openAddress } from "../open_console.ts";
import { operate, type Operator } from "../operator.ts";
import { counted, type Terminal } from "../terminal.ts";

/** Adds `login` and `logout` below `kaged mcp`. */
export function addMcpLogin(mcp: Command, terminal: Terminal): void {
  const login = mcp.command("login")
    .summary("log in at an MCP server elsewhere")
    .description(
      "Logs in at the server of an installed plugin with runtime: mcp_http, by OAuth 2.1. It prints the address where to\n" +
        "agree, opens it where there is a screen, and waits. The tokens are kept in the operator's folder, which only you\n" +
        "may read, and renewed by the hosts that use them. Running hosts start the plugin again.",
    )
    .argument("<plugin>", "the name of an installed plugin")
    .addHelpText("after", LOGIN_EXAMPLES);
  operate(login, terminal, logInAt);
  const logout = mcp.command("logout")
    .summary("forget a login")
    .description("Removes the tokens of a plugin from the operator's folder. Running hosts start the plugin again.")
    .argument("<plugin>", "the name of an installed plugin")
    .addHelpText("after", '\nWith --json it prints { "plugin", "changed", "hosts" }.');
  operate(logout, terminal, logOutAt);
}

const LOGIN_EXAMPLES = `
Examples:
  kaged mcp login tickets
With --json it prints { "address" } on a line of its own once there is one, then
{ "plugin", "issuer", "scope", "renewable", "hosts" }.`;

async function logInAt(operator: Operator, name: string): Promise<void> {
  const { terminal: { out }, runtime, home, signal, json, ask } = operator;
  const { logIn } = await import("../../core/remote/log_in.ts");
  const { SecretMask } = await import("../../core/values/secret_mask.ts");
  const { manifest, config } = await installed(operator, name);
  const mask = new SecretMask();
  operator.terminal.hide((value) => mask.value(value));
  const key = manifest.oauth?.client_secret;
  const { issuer, scope, isRenewable } = await logIn({
    runtime,
    home,
    manifest,
    signal,
    mask,
    ...(key !== undefined && config[key] !== undefined && { clientSecret: String(config[key]) }),
    async onAddress(address) {
      if (json) return out.json({ address });
      out.line("Agree at this address, in a browser of this machine:");
      out.line(`  ${address}`);
      if (ask.canAsk) await openAddress(address, runtime);
      out.line("Waiting for the answer; Ctrl-C gives up.");
    },
  });
  const hosts = await restarted(operator, name);
  if (json) return out.json({ plugin: name, issuer, scope, renewable: isRenewable, hosts });
  const given = scope === null || scope === "" ? "" : `, for ${scope}`;
  const renewal = isRenewable ? "" : "; it cannot be renewed, so you will be asked again when it ends";
  out.done(`Logged in at ${issuer}${given}${renewal}${startedIn(hosts)}`);
}

async function logOutAt(operator: Operator, name: string): Promise<void> {
  const { terminal: { out }, runtime, home, json } = operator;
  const { logOut } = await import("../../core/remote/log_in.ts");
  const { manifest } = await installed(operator, name);
  const changed = await logOut({ runtime, home, manifest });
  const hosts = changed ? await restarted(operator, name) : 0;
  if (json) return out.json({ plugin: name, changed, hosts });
  out.done(changed ? `The login of ${name} is removed${startedIn(hosts)}` : `${name} has no login`);
}

/** Has running hosts start the plugin again; returns how many did. */
async function restarted({ home, terminal: { err } }: Operator, name: string): Promise<number> {
  const { notified, failures } = await notifyHosts(home, name, "restart");
  for (const { code, message } of failures) err.warning(`A running host could not start it [${code}]: ${message}`);
  return notified - failures.length;
}

function startedIn(hosts: number): string {
  return hosts === 0 ? "" : `; ${counted(hosts, "running host")} started it again`;
}

/** Returns the manifest of an installed plugin, and the operator's values for it. */
async function installed(
  operator: Operator,
  name: string,
): Promise<{ readonly manifest: Manifest; readonly config: Readonly<Record<string, unknown>> }> {
  const { home, runtime } = operator;
  const [{ recordOf }, { verifyTree }, { readManifest }, { runConfig }] = await Promise.all([
    import("../../packages/install/change_installed.ts"),
    import("../../core/files/tree.ts"),
    import("../../core/manifest/read_manifest.ts"),
    import("../../operator/run_config.ts"),
  ]);
  const local = await operator.local();
  const { hash = "", package: pkg = name } = recordOf(name, local);
  const dir = `${home}/plugins/${name}`;
  await verifyTree(name, dir, hash, runtime.files);
  const { manifest } = await readManifest(dir, runtime.files);
  const secrets = local.secrets.get(pkg);
  const config = manifest.oauth?.client_secret === undefined
    ? {}
    : await runConfig(manifest, { ...(secrets && { secrets }) }, runtime);
  return { manifest, config };
}
