/**
 * The tools of an agent as its loop lists them for a model.
 *
 * @module
 */
import type { Supervisor } from "../core/supervisor/types.ts";
import { toolAlias } from "../core/tools/tool_alias.ts";
import type { HostModel } from "./model.ts";
import type { HostTool } from "./types.ts";

/** Returns the tools of an agent, without those of plugins that stay down. Throws `agent.unknown`. */
export function callableTools(
  agent: string,
  { model, supervisor }: { readonly model: HostModel; readonly supervisor: Pick<Supervisor, "plugins"> },
): HostTool[] {
  const down = new Set(
    supervisor.plugins().filter(({ status }) => status === "failed" || status === "disabled")
      .map(({ instance }) => instance),
  );
  return [...model.tools(agent).values()].filter(({ owner }) => !down.has(owner.instance))
    .map(({ owner: { plugin }, ...tool }) => ({ ...tool, alias: toolAlias(tool.name), plugin }));
}
