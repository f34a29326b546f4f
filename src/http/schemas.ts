/**
 * Schemas of request parts that several routes share.
 *
 * @module
 */
import * as v from "valibot";
import { isMap } from "../core/values/plain_data.ts";

/** The name in a plugin's manifest. */
export const pluginName: v.GenericSchema<string, string> = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9-]{0,63}$/, "It is no plugin's name"),
  v.title("PluginName"),
);

/** Path of an agent, such as `primary.subagents.researcher`. */
export const agentPath: v.GenericSchema<string, string> = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z][A-Za-z0-9_.-]{0,511}$/, "It is no agent's path"),
  v.title("AgentPath"),
);

/** Id that the program chose for a session. */
export const sessionId: v.GenericSchema<string, string> = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(200),
  v.title("SessionId"),
);

/** Id of an entry in a feed, as in `Last-Event-ID`. */
export const eventId: v.GenericSchema<string, string> = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,100}$/, "It is no id of an event"),
  v.title("EventId"),
);

/** An object with any keys. Not `v.record`, which accepts lists and leaves out some keys. */
export const anyMap: v.GenericSchema<Record<string, unknown>, Record<string, unknown>> = v.custom<
  Record<string, unknown>
>(isMap, "It is no object");

/** Parameters of a path with one plugin. */
export const namedPlugin: v.GenericSchema<{ name: string }, { name: string }> = v.strictObject({ name: pluginName });

/** Parameters of a path with one agent. */
export const namedAgent: v.GenericSchema<{ agent: string }, { agent: string }> = v.strictObject({ agent: agentPath });
