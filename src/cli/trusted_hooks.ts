/**
 * The hook files of a project's repository, for a command whose host serves tool calls.
 *
 * @module
 */
import type { Runtime } from "../core/ports/ports.ts";
import type { Host } from "../host/types.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Adds the hooks that the operator trusts to the host's chain, and warns of files that are not trusted. Dispose of the
 * result to end their commands and servers.
 *
 * @throws {HostError} `hook.trust_unreadable`: a policy that cannot be read must not be skipped.
 */
export async function addTrustedHooks(
  host: Pick<Host, "hooks" | "view">,
  runtime: Runtime,
  terminal: Terminal,
): Promise<AsyncDisposable> {
  const { openHookFiles } = await import("../open_hook_files.ts");
  const { home, project: { dir } } = host.view;
  const { warning } = terminal.err;
  const opened = await openHookFiles({
    runtime,
    dir,
    home,
    onBroken: (_, { message }) => warning(message),
  });
  for (const { message, file } of opened.found.errors) warning(`${file}: ${message}`);
  for (const { file, trust } of opened.judged) {
    if (trust === "untrusted") warning(`${file.name} is not trusted, and its hooks do not run: kaged hooks trust`);
    if (trust === "changed") warning(`${file.name} changed since it was trusted, and its hooks do not run`);
  }
  host.hooks.add(opened.registrations);
  return opened;
}
