/**
 * A plugin that keeps notes in its tables, a project that has it, and a program that uses both.
 *
 * @module
 */

const NOTES_MANIFEST = `name: notes
version: 0.1.0
kaged_api: 1
description: Keeps notes.
command: [js, ./index.js]
capabilities: [kaged:storage:write]
methods: [notes.add]
`;
const NOTES = `import { createPlugin } from "./kaged_sdk.js";
const add = async ({ text }) => {
  await plugin.storage.exec("CREATE TABLE IF NOT EXISTS notes(body TEXT)");
  await plugin.storage.exec("INSERT INTO notes VALUES (?)", [text]);
  return (await plugin.storage.query("SELECT body FROM notes ORDER BY rowid")).rows;
};
const plugin = createPlugin({ name: "notes", version: "0.1.0", methods: { "notes.add": add } });
plugin.start();
`;
/** Returns a program that adds two notes through a host and prints what it saw; its argument is the home folder. */
export const notesProgram = (entry: string): string =>
  `import { createHost, HostError } from "${entry}";
import process from "node:process";

await using host = await createHost({ project: "music", home: process.argv[2], plugins: { "@test/notes": "notes" } });
const { running, failed } = await host.start();
const session = host.openSession();
const at = { agent: "primary", session: session.id };
await host.callMethod("notes", "notes.add", { text: "red" }, at);
const rows = await host.callMethod("notes", "notes.add", { text: "blue" }, at);
const unknown = await host.callMethod("notes", "no.such", {}, at).catch((error) => error instanceof HostError && error.code);
console.log(JSON.stringify({ running, failed: failed.map(String), rows, unknown }));
`;

/** Writes plugin, project and program; `kaged plugin new notes` has made the plugin's folder. */
export async function writeNotes(
  write: (path: string, text: string) => Promise<void>,
  entry: string,
): Promise<void> {
  await write("notes/kaged-plugin.yaml", NOTES_MANIFEST);
  await write("notes/index.js", NOTES);
  await write("music/project.yaml", 'primary: { plugins: { notes: { package: "@test/notes" } } }\n');
  await write("program.mjs", notesProgram(entry));
}

/** The program's output when all is well. */
export const NOTES_TOLD = {
  running: ["notes@music/primary"],
  failed: [],
  rows: [{ body: "red" }, { body: "blue" }],
  unknown: "protocol.method_unknown",
} as const;
