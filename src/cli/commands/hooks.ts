/**
 * `kaged hooks …`: look at the hook files of a repository, run them, trust them, convert them; fire a hook at plugins.
 *
 * @module
 */
import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { addHooksConvert } from "./hooks_convert.ts";
import { addHooksFire } from "./hooks_fire.ts";
import { addHooksList } from "./hooks_list.ts";
import { addHooksRun, addHooksWhy } from "./hooks_run.ts";
import { addHooksTrust, addHooksUntrust } from "./hooks_trust.ts";

/** Adds the commands; `exit` takes the exit code of one that came to its end. */
export function addHooks(kaged: Command, terminal: Terminal, exit: (code: number) => void): void {
  const hooks = kaged.command("hooks")
    .summary("hook files of a repository: list, run, why, trust, untrust, convert; fire a hook at plugins")
    .description(
      "Hook files of a repository: .github/hooks/*.json, .claude/settings.json, hooks/hooks.json, .agent.md, mcp.json,\n" +
        "and the operator's own in ~/.copilot/hooks. Nothing of a repository runs before you trust it, and then in a cage." +
        "\nkaged hooks fire is about plugins instead: it fires one hook at those of a project.",
    )
    .addHelpText("after", EXAMPLES);
  addHooksList(hooks, terminal, exit);
  addHooksRun(hooks, terminal, exit);
  addHooksWhy(hooks, terminal);
  addHooksTrust(hooks, terminal, exit);
  addHooksUntrust(hooks, terminal);
  addHooksConvert(hooks, terminal);
  addHooksFire(hooks, terminal, exit);
}

const EXAMPLES = `
Examples:
  kaged hooks list
  kaged hooks trust
  kaged hooks run PreToolUse --input event.json
  kaged hooks why
  kaged hooks fire on_session_start --project .`;
