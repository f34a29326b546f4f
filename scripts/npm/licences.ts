/**
 * The licences of packages that are joined into the npm package.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";

/** Returns a page with name, version and licence text of each package. */
export async function licencePage(packages: readonly string[]): Promise<string> {
  const parts = await Promise.all(packages.map(licenceOf));
  return `# Licences of packages in this package

The files of this package contain code of the packages below, in the versions named.

${parts.join("\n")}`;
}

async function licenceOf(name: string): Promise<string> {
  const dir = `node_modules/${name}`;
  const { version, license, author } = JSON.parse(await readFile(`${dir}/package.json`, "utf8"));
  const file = (await readdir(dir)).find((each) => /^licen[cs]e(\.(md|txt))?$/i.test(each));
  if (file === undefined && typeof license !== "string") throw new Error(`${name} says nothing of its licence`);
  const holder = typeof author === "string" ? author : author?.name ?? `the authors of ${name}`;
  const text = file ? await readFile(`${dir}/${file}`, "utf8") : `Copyright ${holder}. Licence: ${license}.`;
  const kind = typeof license === "string" ? ` (${license})` : "";
  return `## ${name} ${version}${kind}\n\n~~~text\n${text.trim().replaceAll("\r", "")}\n~~~\n`;
}
