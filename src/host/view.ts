/**
 * A host as the operator's side sees it, made from its rooms.
 *
 * @module
 */
import { describeCapability } from "../packages/consent/describe_capability.ts";
import type { JobsClient } from "../jobs/jobs.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { CompactionLog } from "./compaction_log.ts";
import type { HostStorage } from "./host_storage.ts";
import type { PluginLogs } from "./plugin_logs.ts";
import { pluginRows, type RowPorts } from "./plugin_rows.ts";
import type { HostView, InstanceView } from "./view_types.ts";

/** What a view looks at. */
export interface ViewPorts extends RowPorts {
  /** The plugins' tables. */
  readonly storage: HostStorage;
  /** What they log. */
  readonly logs: PluginLogs;
  /** What was compacted. */
  readonly compactions: CompactionLog;
  /** Ids of the open sessions. */
  sessions(): string[];
  /** Background jobs, or null while there are none. */
  jobs(): JobsClient | null;
  /** The operator's folder. */
  readonly home: string;
  /** Time, names, and where the operator lives. */
  readonly runtime: Pick<Runtime, "clock" | "ids" | "env">;
}

/** Returns a view of a host. */
export function hostView(ports: ViewPorts): HostView {
  const { model, supervisor, storage, logs, compactions, sessions, jobs, home, runtime } = ports;

  function instances(): InstanceView[] {
    const live = new Map(supervisor.plugins().map((info) => [info.instance, info]));
    const agents = new Map(model.project.instances.map((one) => [one.instance, one.agents]));
    return pluginRows(ports).map((row) => ({
      ...row,
      agents: agents.get(row.instance) ?? [],
      methods: live.get(row.instance)?.methods ?? [],
    }));
  }

  return {
    project: { id: model.project.id, dir: model.project.dir },
    home,
    clock: runtime.clock,
    ids: runtime.ids,
    instances,
    plugin(name) {
      const [first] = model.instancesOf(name);
      const live = supervisor.plugins().find(({ instance }) => instance === first!.instance);
      const manifest = live?.manifest ?? first!.manifest;
      const { dir: installDir } = first!;
      const paths = { installDir, home, projectDir: model.project.dir, userHome: runtime.env("HOME") };
      return {
        plugin: name,
        package: first!.package,
        dir: installDir,
        manifest,
        capabilities: manifest.capabilities.map((capability) => describeCapability(capability, { paths })),
        instances: instances().filter(({ plugin }) => plugin === name),
        uses: model.project.agents.flatMap(({ path: agent, plugins }) =>
          plugins.filter(({ plugin }) => plugin === name)
            .map(({ key, instance, shownConfig: config }) => ({ agent, key, instance, config }))
        ),
      };
    },
    sessions,
    jobs,
    compaction(path) {
      const { compaction: settings, plugins } = model.agent(path);
      const delegate = plugins.find(({ key }) => key === settings.delegate);
      const watches = plugins.filter(({ key, hooks }) =>
        key !== settings.delegate && (hooks.includes("pre_compact") || hooks.includes("post_compact"))
      );
      return {
        ...settings,
        compactor: delegate?.plugin ?? null,
        observers: watches.map(({ plugin }) => plugin),
        recent: compactions.of(path),
      };
    },
    async storage(name) {
      model.instancesOf(name);
      return await storage.report(name);
    },
    logs(name) {
      model.instancesOf(name);
      return logs.of(name);
    },
  };
}
