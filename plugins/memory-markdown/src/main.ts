/**
 * memory-markdown: an agent's memory in markdown files.
 *
 * @module
 */
import { join } from "node:path";
import { type CallContext, createPlugin } from "../../../src/sdk/mod.ts";
import type { WireMessage } from "../../shared/message_text.ts";
import {
  type Desk,
  ensureReadme,
  listTags,
  openingText,
  recall,
  recordSession,
  reminderText,
  retain,
  retainFacts,
} from "./memories.ts";
import { memoryFolder } from "./memory_folder.ts";
import { MemoryStore } from "./memory_store.ts";
import { settingsOf } from "./settings.ts";
import { Transcripts } from "./transcripts.ts";

interface CompactParams {
  readonly messages_being_compacted?: readonly WireMessage[];
  readonly messages_remaining?: readonly WireMessage[];
}

const stores = new Map<string, MemoryStore>();
const transcripts = new Transcripts<Desk>();

const plugin = createPlugin({
  name: "memory-markdown",
  version: "0.1.0",
  capabilitiesUsed: ["read:fs:config:/memory", "write:fs:config:/memory"],

  onConfigUpdate: (config) => ensureReadme(plugin.resolvePath(settingsOf(config).store)),
  onShutdown: () => {
    for (const { owner, messages } of transcripts.takeAll()) keep(messages, owner);
  },

  tools: {
    retain: (params, context) => retain(params, deskOf(context)),
    recall: (params, context) => recall(params, deskOf(context)),
    forget: ({ id }, context) => ({ forgotten: deskOf(context).store.remove(id) }),
    list_tags: (_params, context) => listTags(deskOf(context)),
  },

  hooks: {
    on_session_start: (_params, context) => {
      const inject = openingText(deskOf(context));
      return inject === null ? null : { inject };
    },
    on_session_idle: ({ transcript = [] }: { transcript?: readonly WireMessage[] }, context) => {
      const desk = deskOf(context);
      const key = `${context.project_id} ${context.agent_path} ${context.session_id}`;
      const turns = desk.settings.retainEveryNTurns;
      const messages = transcripts.add(key, { owner: desk, messages: transcript, turns });
      if (messages) keep(messages, desk);
      return null;
    },
    pre_compact: ({ messages_being_compacted: gone = [] }: CompactParams, context) => {
      const desk = deskOf(context);
      return desk.settings.retainFacts ? { retain: retainFacts(gone, "compaction", desk) } : null;
    },
    post_compact: (params: CompactParams, context) => {
      const { messages_being_compacted: gone = [], messages_remaining: remaining = [] } = params;
      const inject = reminderText({ gone, remaining }, deskOf(context));
      return inject === null ? null : { inject };
    },
  },
});

/** The calling agent's memory. */
function deskOf(context: CallContext): Desk {
  const settings = settingsOf(context.config);
  const dir = join(plugin.resolvePath(settings.store), memoryFolder(context, settings.isolation));
  const store = stores.get(dir) ?? new MemoryStore(dir, plugin.log.warn);
  stores.set(dir, store);
  return { store, settings, session: context.session_id, now: new Date().toISOString() };
}

function keep(messages: readonly WireMessage[], desk: Desk): void {
  if (desk.settings.retainFacts) retainFacts(messages, "idle", desk);
  if (desk.settings.retainSummary) recordSession(messages, desk);
}

plugin.start();
