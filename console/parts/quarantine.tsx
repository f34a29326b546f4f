/**
 * Tools of an MCP server that are not as the operator agreed to, each with its difference and a button to take it.
 *
 * @module
 */
import type { JSX } from "preact";
import type { Instance } from "../../src/http/answers.ts";
import type { QuarantinedTool } from "../../src/core/pins/tool_diff.ts";
import { ask } from "../model/api.ts";
import { refresh } from "../model/live.ts";
import { linkTo } from "../model/route.ts";
import { changes } from "../model/state.ts";
import { useLoaded } from "../model/use_loaded.ts";
import { counted } from "../model/words.ts";
import { Action, useDoing } from "./action.tsx";
import { DiffLines } from "./diff_lines.tsx";
import { FailureNote } from "./failure.tsx";

/** Says that tools of an instance are held, and leads to them; nothing where none is. */
export function HeldBadge({ of: { plugin, quarantined } }: { of: Instance }): JSX.Element | null {
  if (quarantined.length === 0) return null;
  return <a class="badge warn" href={linkTo("plugins", plugin)}>{counted(quarantined.length, "tool")} held back</a>;
}

/** The held tools of a plugin; nothing where none is. */
export function Quarantine({ plugin }: { plugin: string }): JSX.Element | null {
  const loaded = useLoaded("GET /api/v1/plugins/{name}/quarantine", { name: plugin }, changes.value[plugin]);
  const doing = useDoing();
  const tools = loaded.value?.tools ?? [];
  if (tools.length === 0) return null;
  const take = (some: readonly QuarantinedTool[]) => async (): Promise<void> => {
    // By the hashes of what is on the page: a definition that has changed since is not taken.
    const wanted = Object.fromEntries(some.map(({ tool, listed }) => [tool, listed]));
    loaded.replace(await ask("POST /api/v1/plugins/{name}/quarantine/approve", { name: plugin }, { tools: wanted }));
    await refresh();
  };
  return (
    <section aria-label="Tools held back">
      <h2>Tools held back</h2>
      <p class="notice bad">
        The server lists {counted(tools.length, "tool")} otherwise than you agreed to. Agents do not get{" "}
        {tools.length === 1 ? "it" : "them"} until you approve.
      </p>
      {tools.map((one) => (
        <div key={one.tool} class="held">
          <p>
            <code>{plugin}.{one.tool}</code>{" "}
            <span class="hint">
              {one.kind === "new" ? "new: you never agreed to it" : "changed since you agreed to it"}
            </span>
          </p>
          <DiffLines of={one.diff} label={`Changes of ${one.tool}`} />
          <Action doing={doing} act={take([one])} label={`Approve ${one.tool}`}>Approve</Action>
        </div>
      ))}
      {tools.length > 1 && <Action doing={doing} act={take(tools)} kind="primary">Approve all {tools.length}</Action>}
      {doing.error && <FailureNote of={doing.error} isAlert />}
    </section>
  );
}
