// @ts-check
// A plugin with the SDK: two tools, a method, a hook, a notification and a config with a knob.
import { createPlugin, PluginError } from "./kaged_sdk.js";

const MAX_NOTE_LENGTH = 2_000;

/**
 * Notes by agent: one agent never sees another's.
 * @type {Map<string, string[]>}
 */
const notesOf = new Map();

/**
 * @param {import("./kaged_sdk.js").CallContext} context
 * @returns {string[]}
 */
function notesFor(context) {
  const owner = `${context.project_id}/${context.agent_path}`;
  const notes = notesOf.get(owner) ?? [];
  notesOf.set(owner, notes);
  return notes;
}

const plugin = createPlugin({
  name: "notes",
  version: "0.1.0",

  tools: {
    add: ({ text }, context) => {
      if (text.length > MAX_NOTE_LENGTH) {
        throw new PluginError("The note is too long", { data: { max_length: MAX_NOTE_LENGTH } });
      }
      const notes = notesFor(context);
      notes.push(text);
      plugin.notify("notes.added", { agent_path: context.agent_path, count: notes.length });
      plugin.log.debug("Added a note", { request_id: context.request_id });
      return { count: notes.length };
    },
    find: ({ query }, context) => {
      const wanted = query.toLowerCase();
      return { notes: notesFor(context).filter((note) => note.toLowerCase().includes(wanted)) };
    },
  },

  methods: {
    "notes.count": (_params, context) => ({ count: notesFor(context).length }),
  },

  hooks: {
    on_session_start: (_params, context) => {
      const count = context.config.max_injected ?? 5;
      const newest = count > 0 ? notesFor(context).slice(-count) : [];
      return newest.length > 0 ? { inject: `Notes so far:\n${newest.map((note) => `- ${note}`).join("\n")}` } : null;
    },
  },

  notifications: ["notes.added"],

  onConfigUpdate: ({ max_injected = 5 }) => {
    if (!Number.isInteger(max_injected)) throw new Error("max_injected is no whole number");
  },
});

plugin.start();
