/**
 * The parts of an instance that serve its processes.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import { InstanceAudit } from "./instance_audit.ts";
import { InstanceMcp } from "./instance_mcp.ts";
import type { InstanceOptions } from "./instance_options.ts";
import { InstanceSecrets } from "./instance_secrets.ts";
import type { Ending, PluginProcess } from "./plugin_process.ts";
import { InstanceRest, type RestPorts } from "./rest.ts";

/** The instance as its parts act on it. */
type InstancePorts = Omit<RestPorts, "clock" | "audit">;

/** Made when a process is first asked for: most of a thousand instances that rest never have one. */
export class InstanceParts {
  readonly audit: InstanceAudit;
  readonly secrets: InstanceSecrets;
  readonly mcp: InstanceMcp;
  readonly rest: InstanceRest;
  /** Processes that were replaced and finish their calls, each with its end. */
  readonly leaving: Map<PluginProcess, Promise<void>> = new Map();

  readonly #ports: InstancePorts;

  /** Starts nothing. */
  constructor({ host, audit, subject, secrets }: InstanceOptions, ports: InstancePorts) {
    this.#ports = ports;
    this.audit = new InstanceAudit(audit, subject);
    this.secrets = new InstanceSecrets(secrets);
    this.mcp = new InstanceMcp(host, audit, subject);
    this.rest = new InstanceRest({
      ...ports,
      clock: host.runtime.clock,
      audit: this.audit,
      isHeld: () => this.leaving.size > 0 || ports.isHeld(),
    });
  }

  /** The process that served, or was to, has ended by itself. */
  ended(ending: Ending): void {
    this.rest.unwatch();
    this.audit.ended(ending);
    this.fail(ending.error);
  }

  /** Takes a failure: another try follows it, or none. */
  fail(error: HostError): void {
    const { life, bringUp } = this.#ports;
    life.fail(error, () => void bringUp().catch(() => {})); // The lifeline has audited it.
  }
}
