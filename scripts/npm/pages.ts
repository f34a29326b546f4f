/**
 * The guides inside the npm package: every page that users read, with links that lead somewhere.
 *
 * @module
 */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path/posix";

/** Pages for people who work on this repository. */
const NOT_SHIPPED = ["coverage.md", "requirements.md"];
const ROOT_PAGES = ["README.md", "CHANGELOG.md", "SECURITY.md"];

/** Writes README, changelog, guides and the drawings in them to `dir`; `base` is where other files can be seen, or null. */
export async function writePages(dir: string, base: string | null): Promise<void> {
  const guides = (await readdir("docs")).filter((name) => name.endsWith(".md") && !NOT_SHIPPED.includes(name));
  const drawings = (await readdir("docs/img")).filter((name) => /^(?!bench|soak).*\.svg$/.test(name));
  const pages = [...ROOT_PAGES, ...guides.map((name) => `docs/${name}`)];
  const pictures = drawings.map((name) => `docs/img/${name}`);
  const shipped = new Set([...pages, ...pictures, "LICENSE"]);
  await mkdir(`${dir}/docs/img`, { recursive: true });
  for (const picture of [...pictures, "LICENSE"]) await copyFile(picture, `${dir}/${picture}`);
  for (const page of pages) {
    await writeFile(`${dir}/${page}`, shippedPage(await readFile(page, "utf8"), { page, shipped, base }));
  }
}

/**
 * Returns a page with links to files of the package left as they are. Others lead to `base`; where that is not known
 * a link becomes its text, and a picture goes.
 */
export function shippedPage(
  text: string,
  { page, shipped, base }: {
    readonly page: string;
    readonly shipped: ReadonlySet<string>;
    readonly base: string | null;
  },
): string {
  const isCode = /(^( *)(`{3,}|~{3,}).*?^ *\3$|`[^`\n]*`|<!--.*?-->)/gms;
  const link = /(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;
  const mended = (prose: string): string =>
    prose.replace(link, (whole: string, mark: string, label: string, target: string) => {
      if (/^([a-z]+:|#)/.test(target)) return whole;
      const [path = "", anchor] = target.split("#");
      const file = relative(".", join(dirname(page), path));
      if (shipped.has(file)) return whole;
      if (base !== null) return `${mark}[${label}](${base}/${file}${anchor === undefined ? "" : `#${anchor}`})`;
      return mark === "!" ? "" : label;
    });
  let from = 0;
  let out = "";
  for (const code of text.matchAll(isCode)) {
    out += mended(text.slice(from, code.index)) + code[0];
    from = code.index + code[0].length;
  }
  return out + mended(text.slice(from));
}
