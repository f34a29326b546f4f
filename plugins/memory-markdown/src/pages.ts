/**
 * The pages of the store that are for people.
 *
 * @module
 */
import type { Memory } from "./memory_file.ts";

/** README.md at the root of the store. */
export const README = `# Memory

Kept by the plugin memory-markdown. Every memory is a markdown file with a little YAML on top:

    <project>/agent/               the primary agent
    <project>/subagent/<name>/     a subagent
    <project>/project/             all agents of the project (isolation: project)

Edit or delete a file and the agent remembers accordingly. A file you add is a memory too; the front matter may be left
out. \`facts.md\` in each folder is a list made from its files: changes to that one page are lost.
`;

const MAX_LISTED = 1000;

/** facts.md: the short memories of a folder, for reading. */
export function factsPage(memories: readonly Memory[]): string {
  const facts = memories.filter(({ kind }) => kind === "fact");
  const lines = facts.slice(0, MAX_LISTED).map(({ content, tags, id }) =>
    `- ${content.replace(/\s+/g, " ")}${
      tags.map((tag) => ` #${tag.replace(/\s+/g, "-")}`).join("")
    } ([${id}](${id}.md))`
  );
  const more = facts.length > MAX_LISTED ? [`\n…and ${facts.length - MAX_LISTED} more.`] : [];
  const head = "# Facts\n\nMade from the files in this folder, newest first. Changes to this page are lost.\n";
  return [head, ...(lines.length > 0 ? lines : ["None yet."]), ...more].join("\n") + "\n";
}
