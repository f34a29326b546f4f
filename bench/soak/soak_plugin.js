// One plugin of the long run: answers, keeps a bounded number of rows, and dies when it is told to.
import { createPlugin } from "../../src/sdk/mod.ts"; // In its folder: ./kaged_sdk.js.
import { readFileSync } from "node:fs";
import process from "node:process";

const KEPT_ROWS = 200;
const name = readFileSync(new URL("./name", import.meta.url), "utf8").trim();
let isOpen = false;

const plugin = createPlugin({
  name,
  version: "1.0.0",
  methods: {
    "soak.echo": ({ text }) => ({ text }),
    "soak.keep": async ({ rows }) => {
      if (!isOpen) await plugin.storage.exec("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, text TEXT)");
      isOpen = true;
      await plugin.storage.batch([
        ...rows.map((text) => ({ sql: "INSERT INTO rows (text) VALUES (?)", params: [text] })),
        { sql: "DELETE FROM rows WHERE id <= (SELECT max(id) FROM rows) - ?", params: [KEPT_ROWS] },
      ]);
      return {};
    },
    "soak.die": () => process.exit(7),
  },
  hooks: { on_session_start: () => ({ inject: `${name} is here` }) },
});
plugin.start();
