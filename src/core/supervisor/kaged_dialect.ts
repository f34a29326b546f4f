/**
 * The plugin wire: the messages that are allowed before and after the handshake, and calls.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { ContextParams } from "../wire/codec.ts";
import type { Connection, IncomingRequest, Irregularity } from "../wire/connection_types.ts";
import type { Dialect, DialectPorts } from "./dialect.ts";
import { sendConfig, shakeHands } from "./handshake.ts";
import { quietly } from "./health.ts";
import { irregularityDetail, irregularityGate, notificationGate, NOTIFICATIONS_PER_SECOND } from "./wire_audit.ts";

const NOTIFICATION_NAME = /^(?!kaged\.|system\.)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,3}$/;

/** Speaks the plugin wire over the connection that `ports` makes. */
export function kagedDialect(ports: DialectPorts): Dialect {
  const { manifest, audit, subject, connect, kill } = ports;
  let phase: "initializing" | "configuring" | "running" = "initializing";
  const isTaken = notificationGate(ports, () => {
    quietly(() => connection.notify("system.rate_limited", { limit_per_second: NOTIFICATIONS_PER_SECOND }));
  });
  const auditIrregularity = irregularityGate(ports);
  const connection: Connection = connect({ onRequest, onNotification, onIrregularity });

  function onRequest(request: IncomingRequest): unknown {
    if (phase === "initializing") return violate("message_before_initialize", request.method);
    if (phase === "configuring") {
      throw new HostError("plugin.not_initialized", `Cannot serve "${request.method}" before initialized`, {
        hint: "Send it after the initialized notification",
      });
    }
    return ports.onRequest(request);
  }

  function onNotification(method: string, params: unknown): void {
    if (phase === "initializing") return violate("message_before_initialize", method);
    if (!isTaken()) return;
    if (phase === "configuring" || !NOTIFICATION_NAME.test(method)) {
      const violation_type = phase === "configuring" ? "notification_before_initialized" : "notification_name";
      return audit.emit("plugin.protocol_violation", subject, { violation_type, detail: method.slice(0, 200) });
    }
    audit.emit("plugin.notification", subject, { notification_type: method });
    ports.onNotification(method, params);
  }

  function onIrregularity(irregularity: Irregularity): void {
    const isHarmless = irregularity.kind === "noise" || irregularity.kind === "oversize" || phase !== "initializing";
    if (isHarmless) return auditIrregularity(irregularity);
    violate(`${irregularity.kind}_before_initialize`, irregularityDetail(irregularity));
  }

  /** Until the answer to initialize nothing else may come: a plugin that speaks first is not started again. */
  function violate(violation_type: string, sent: string): void {
    const detail = sent.slice(0, 200);
    audit.emit("plugin.protocol_violation", subject, { violation_type, detail });
    kill(
      new HostError("protocol.violation", `The plugin sent "${detail}" before it had answered initialize`, {
        data: { violation_type, detail },
        hint: "Answer initialize first and send nothing before it",
      }),
    );
  }

  return {
    handshake: ({ beforeConfig, onInitialized, ...options }) =>
      shakeHands(connection, manifest, {
        ...options,
        beforeConfig: async () => {
          phase = "configuring";
          await beforeConfig();
        },
        onInitialized: () => {
          phase = "running";
          onInitialized();
        },
      }),
    call(method, params, context, options, end) {
      const sent = context === null || method === "ping" ? {} : new ContextParams(params, context);
      return connection.call(method, sent, options, end);
    },
    updateConfig: (config) => sendConfig(connection, config),
    ask: async (method, params, timeoutMs) => await connection.call(method, params, { timeoutMs }),
    notify: (method, params) => connection.notify(method, params),
    activity: () => connection.activity(),
    askToEnd: () => connection.notify("shutdown", {}),
  };
}
