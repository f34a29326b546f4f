/**
 * smart-compactor: a digest in place of old messages.
 *
 * @module
 */
import { createPlugin } from "../../../src/sdk/mod.ts";
import { type CompactParams, compactWindow, reminder, retained, settingsOf } from "./compact.ts";

createPlugin({
  name: "smart-compactor",
  version: "0.1.0",

  onConfigUpdate: (config) => void settingsOf(config),

  hooks: {
    pre_compact: (params: CompactParams, { config }) =>
      params.role === "compactor" ? compactWindow(params, settingsOf(config)) : retained(params),
    post_compact: (params: CompactParams, { config }) => reminder(params, settingsOf(config)),
  },
}).start();
