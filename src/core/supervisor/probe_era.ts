/**
 * Finds out how an MCP server wants to be greeted, by a process of its own: some servers end, or fall silent, when their
 * first message is one they do not know, and would be lost for the conversation.
 *
 * @module
 */
import { asHostError, type HostError } from "../errors/host_error.ts";
import { MCP_NOTICES, type McpEra, requestMeta } from "../mcp/messages.ts";
import { readDiscovery } from "../mcp/server_info.ts";
import type { Dialect, DialectPorts, PluginProfile } from "./dialect.ts";
import { handshakeStep } from "./handshake.ts";
import { irregularityGate } from "./wire_audit.ts";

/** The outcome of a probe. */
export interface EraVerdict {
  readonly era: McpEra;
  /** The revision that the server will be spoken to in; null for the older ones, which it chooses itself. */
  readonly protocol: string | null;
  /** Why it is taken for an older one, or null. */
  readonly error: HostError | null;
}

const NO_PROFILE: PluginProfile = {
  callable: new Set(),
  methods: [],
  features: [],
  missing: [],
  undeclared: [],
  configIgnored: false,
};

/**
 * Returns a dialect whose handshake asks one question, `server/discover`, and hands the verdict to `onVerdict`. A server
 * that refuses it, ends or says nothing is taken for one of the older revisions.
 */
export function probeDialect(onVerdict: (verdict: EraVerdict) => void): (ports: DialectPorts) => Dialect {
  return (ports) => {
    const connection = ports.connect({
      onRequest: () => ({}),
      onNotification() {},
      // The process that serves says the same, and that is audited.
      onIrregularity: irregularityGate({ ...ports, audit: { ...ports.audit, emit() {} } }),
      notices: MCP_NOTICES,
    });
    return {
      async handshake() {
        try {
          const params = { _meta: requestMeta(ports.mcpOffers ?? []) };
          const { protocol } = readDiscovery(await handshakeStep(connection, "server/discover", params));
          onVerdict({ era: "modern", protocol, error: null });
        } catch (thrown) {
          onVerdict({ era: "legacy", protocol: null, error: asHostError(thrown) });
        }
        return NO_PROFILE;
      },
      call: () => Promise.resolve(null),
      updateConfig: () => Promise.resolve(false),
      notify() {},
      askToEnd: () => ports.endInput(),
    };
  };
}
