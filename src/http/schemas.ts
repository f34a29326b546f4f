/**
 * Schemas of request parts that several routes share.
 *
 * @module
 */
import * as v from "valibot";
import { isMap } from "../core/values/plain_data.ts";

type TextSchema = v.GenericSchema<string>;

/** Returns the schema of a text of one form. The OpenAPI document spells a schema with a title once. */
export function textLike(form: RegExp, problem: string, title?: string): TextSchema {
  const text = v.pipe(v.string(), v.regex(form, problem));
  return title === undefined ? text : v.pipe(text, v.title(title));
}

/** Returns the schema of a number in a query, where it is a text. */
export function numberLike(form: RegExp, problem: string): v.GenericSchema<string, number> {
  return v.pipe(v.string(), v.regex(form, problem), v.transform(Number));
}

/** The name in a plugin's manifest. */
export const pluginName: TextSchema = textLike(/^[a-z][a-z0-9-]{0,63}$/, "It is no plugin's name", "PluginName");

/** Path of an agent, such as `primary.subagents.researcher`. */
export const agentPath: TextSchema = textLike(/^[A-Za-z][A-Za-z0-9_.-]{0,511}$/, "It is no agent's path", "AgentPath");

/** Id that the program chose for a session. */
export const sessionId: TextSchema = v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.title("SessionId"));

/** Id of an entry in a feed, as in `Last-Event-ID`. */
export const eventId: TextSchema = textLike(/^[A-Za-z0-9_-]{1,100}$/, "It is no id of an event", "EventId");

/** An object with any keys. Not `v.record`, which accepts lists and leaves out some keys. */
export const anyMap: v.GenericSchema<Record<string, unknown>> = v.custom(isMap, "It is no object");

/** Parameters of a path with one plugin. */
export const namedPlugin: v.GenericSchema<{ name: string }> = v.strictObject({ name: pluginName });

/** Parameters of a path with one agent. */
export const namedAgent: v.GenericSchema<{ agent: string }> = v.strictObject({ agent: agentPath });
