/**
 * Schemas of request parts that several routes share.
 *
 * @module
 */
import * as v from "valibot";
import { isMap } from "../core/values/plain_data.ts";

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
