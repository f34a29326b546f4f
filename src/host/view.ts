/**
 * Makes the view of a host from its rooms.
 *
 * @module
 */
import { Callers } from "../core/values/caller.ts";
import type { Audit } from "../core/audit/audit.ts";
import { readTrail } from "../core/audit/read_trail.ts";
import type { TrailPlace } from "../core/audit/trail_files.ts";
import { verifyTrail } from "../core/audit/verify_trail.ts";
import { describeSecrets } from "../packages/consent/describe_secret.ts";
import { type CapabilityDescription, describeCapability } from "../packages/consent/describe_capability.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { SecretMask } from "../core/values/secret_mask.ts";
import type { CompactionLog } from "./compaction_log.ts";
import type { HostDesk } from "./host_desk.ts";
import type { HostPins } from "./host_pins.ts";
import type { HostStorage } from "./host_storage.ts";
import type { PluginLogs } from "./plugin_logs.ts";
import { pluginRows, type RowPorts } from "./plugin_rows.ts";
import type { HostView, PluginView } from "./view_types.ts";

/** The rooms that a view reads. */
export interface ViewPorts extends RowPorts, Pick<HostView, "home" | "sessions" | "jobs"> {
  readonly secrets: SecretMask;
  readonly audit: Pick<Audit, "flush">;
  readonly storage: HostStorage;
  readonly pins: Pick<HostPins, "quarantined">;
  readonly logs: PluginLogs;
  readonly compactions: CompactionLog;
  readonly desk: Pick<HostDesk, "figures">;
  readonly runtime: Pick<Runtime, "clock" | "ids" | "env" | "files" | "callers">;
}

/** The trail of commands: no project has an id that starts with an underscore. */
const OPERATOR_TRAIL = "_operator";

/** Returns a view of a host. */
export function hostView(ports: ViewPorts): HostView {
  /** Returns the place of a trail, with every event so far in its file. */
  const trailOf = async (of: "project" | "operator"): Promise<TrailPlace> => {
    await ports.audit.flush();
    return { home: ports.home, project: of === "operator" ? OPERATOR_TRAIL : ports.model.project.id };
  };
  const { model, secrets, storage, logs, compactions, sessions, jobs, home, runtime } = ports;
  const callers = new Callers(runtime.callers);
  return {
    project: { id: model.project.id, dir: model.project.dir },
    home,
    clock: runtime.clock,
    ids: runtime.ids,
    hide: (value) => secrets.value(value),
    serve: (caller, work) => callers.serve(caller, work),
    audit: async (of, query) => await readTrail(await trailOf(of), query, runtime.files),
    verifyAudit: async (of) => await verifyTrail(await trailOf(of), runtime.files),
    sessions,
    jobs,
    approvals: () => ports.desk.figures,
    plugin(name) {
      const { package: pkg, dir, manifest } = filesOf(name, ports);
      const paths = { installDir: dir ?? "", home, projectDir: model.project.dir, userHome: runtime.env("HOME") };
      const described = (capabilities: readonly string[]): CapabilityDescription[] =>
        capabilities.map((capability) => describeCapability(capability, { paths }));
      return {
        plugin: name,
        package: pkg,
        dir,
        manifest,
        capabilities: described(manifest?.capabilities ?? []),
        withheld: described(manifest?.withheld ?? []),
        secrets: manifest ? describeSecrets(manifest).map(({ text }) => text) : [],
        instances: pluginRows(ports).filter(({ plugin }) => plugin === name),
        uses: model.project.agents.flatMap(({ path: agent, plugins }) =>
          plugins.filter(({ plugin }) => plugin === name)
            .map(({ key, instance, shownConfig: config }) => ({ agent, key, instance, config }))
        ),
      };
    },
    compaction(path) {
      const { compaction: settings, delegateFault, plugins } = model.agent(path);
      const delegate = delegateFault === null ? plugins.find(({ key }) => key === settings.delegate) : undefined;
      const observers = plugins.filter((one) =>
        one !== delegate && (one.hooks.includes("pre_compact") || one.hooks.includes("post_compact"))
      );
      return {
        ...settings,
        compactor: delegate?.plugin ?? null,
        delegate_fault: delegateFault,
        observers: observers.map(({ plugin }) => plugin),
        recent: compactions.of(path),
      };
    },
    quarantined(name) {
      filesOf(name, ports);
      return ports.pins.quarantined(name);
    },
    async storage(name) {
      filesOf(name, ports);
      return await storage.report(name);
    },
    logs(name) {
      filesOf(name, ports);
      return logs.of(name);
    },
  };
}

/** Returns the files that a plugin runs with; of a refused one, those that were found. Throws `plugin.unknown`. */
function filesOf(name: string, { model, supervisor }: ViewPorts): Pick<PluginView, "package" | "dir" | "manifest"> {
  const runs = model.project.instances.some(({ plugin }) => plugin === name);
  const refused = model.refused.find(({ plugin }) => plugin === name);
  if (!runs && refused) return { package: refused.package, dir: null, manifest: null, ...refused.found };
  const { instance, dir, package: pkg, manifest: onDisk } = model.instancesOf(name)[0]!;
  const { manifest } = supervisor.plugins().find((live) => live.instance === instance) ?? { manifest: onDisk };
  return { package: pkg, dir, manifest };
}
