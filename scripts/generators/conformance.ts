/** Writes the table of rules into docs/conformance.md; the text around it stays. */
import { readFile } from "node:fs/promises";
import { CONFORMANCE_RULES } from "../../src/operator/conformance/rules.ts";

const PATH = "docs/conformance.md";
const [BEGIN, END] = ["<!-- rules: begin -->", "<!-- rules: end -->"];

async function render(): Promise<string> {
  const page = await readFile(PATH, "utf8");
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${PATH} lacks ${BEGIN} or ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${table()}\n\n${page.slice(end)}`;
}

/** The columns are as wide as the formatter wants them. */
function table(): string {
  const head = ["rule", "a plugin that keeps it", "comes from", "written in"];
  const rows = CONFORMANCE_RULES.map(({ id, expected, requirement, written }) => {
    const [page = "", anchor = ""] = written.replace("docs/", "").split("#");
    return [`\`${id}\``, expected, requirement, `[${anchor.replaceAll("-", " ")}](${page}#${anchor})`];
  });
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

const generator: { path: string; render: () => Promise<string> } = { path: PATH, render };
export default generator;
