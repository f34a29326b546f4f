/**
 * Shapes that several routes share.
 *
 * @module
 */
import * as v from "valibot";
import { isMap } from "../core/values/plain_data.ts";
import type { Schema } from "./route.ts";

/** Names of plugins. */
export const pluginName: v.GenericSchema<string, string> = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9-]{0,63}$/, "It is no plugin's name"),
  v.title("PluginName"),
);

/** Paths of agents. */
export const agentPath: v.GenericSchema<string, string> = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z0-9_.-]{0,511}$/, "It is no agent's path"),
  v.title("AgentPath"),
);

/** Ids of sessions. */
export const sessionId: v.GenericSchema<string, string> = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(200),
  v.title("SessionId"),
);

/** Ids of entries in a feed. */
export const eventId: v.GenericSchema<string, string> = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,100}$/, "It is no id of an event"),
  v.title("EventId"),
);

/** A map whose keys are not known beforehand. Not `v.record`, which takes lists and leaves some keys out. */
export const anyMap: v.GenericSchema<Record<string, unknown>, Record<string, unknown>> = v.custom<
  Record<string, unknown>
>(isMap, "It is no object");

/** A plugin named in a path. */
export const namedPlugin: v.GenericSchema<{ name: string }, { name: string }> = v.strictObject({ name: pluginName });

/** An agent named in a path. */
export const namedAgent: v.GenericSchema<{ agent: string }, { agent: string }> = v.strictObject({ agent: agentPath });

/** A failure inside an answer. */
export const failure: Schema = v.pipe(
  v.strictObject({
    code: v.string(),
    message: v.string(),
    hint: v.exactOptional(v.string()),
  }),
  v.title("Failure"),
);

/** A capability in plain words. */
export const capability: Schema = v.pipe(
  v.strictObject({
    capability: v.string(),
    text: v.string(),
    danger: v.nullable(v.string()),
  }),
  v.title("Capability"),
);

/** An instance of a plugin. */
export const instance: Schema = v.pipe(
  v.strictObject({
    key: v.nullable(v.string()),
    plugin: v.string(),
    package: v.string(),
    version: v.string(),
    instance: v.string(),
    agents: v.array(v.string()),
    state: v.picklist(["disabled", "spawning", "running", "crashed", "failed", "stopped"]),
    isolation: v.picklist(["agent", "project"]),
    hooks: v.array(v.string()),
    tools: v.array(v.string()),
    methods: v.array(v.string()),
    cage: v.nullable(v.strictObject({
      id: v.string(),
      limits: v.strictObject({
        tier: v.string(),
        memory_mb: v.number(),
        cpu_shares: v.number(),
        pids: v.number(),
      }),
    })),
    restarts: v.number(),
    error: v.nullable(failure),
  }),
  v.title("Instance"),
);

/** Size of a window. */
export const size: Schema = v.pipe(v.strictObject({ messages: v.number(), tokens: v.number() }), v.title("Size"));

/** A failure as `application/problem+json`. */
export const problem: Schema = v.pipe(
  v.looseObject({
    type: v.string(),
    title: v.string(),
    status: v.number(),
    detail: v.string(),
    code: v.string(),
    hint: v.exactOptional(v.string()),
    data: v.exactOptional(v.unknown()),
  }),
  v.title("Problem"),
);
