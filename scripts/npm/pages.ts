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

/** Returns where a file of the repository can be seen; a picture as such, not as a page around it. */
export type AddressOf = (file: string, as: "page" | "picture") => string;

/** Writes README, changelog, guides and the drawings in them to `dir`; `addressOf` is null where nobody knows it. */
export async function writePages(dir: string, addressOf: AddressOf | null): Promise<void> {
  const guides = (await readdir("docs")).filter((name) => name.endsWith(".md") && !NOT_SHIPPED.includes(name));
  const drawings = (await readdir("docs/img")).filter((name) => /^(?!bench|soak).*\.svg$/.test(name));
  const pages = [...ROOT_PAGES, ...guides.map((name) => `docs/${name}`)];
  const pictures = drawings.map((name) => `docs/img/${name}`);
  const shipped = new Set([...pages, ...pictures, "LICENSE"]);
  await mkdir(`${dir}/docs/img`, { recursive: true });
  for (const picture of [...pictures, "LICENSE"]) await copyFile(picture, `${dir}/${picture}`);
  for (const page of pages) {
    await writeFile(`${dir}/${page}`, shippedPage(await readFile(page, "utf8"), { page, shipped, addressOf }));
  }
}

/**
 * Returns a page with links to files of the package left as they are. Others lead to the repository; where that is not
 * known a link becomes its text, and a picture goes.
 */
export function shippedPage(
  text: string,
  { page, shipped, addressOf }: {
    readonly page: string;
    readonly shipped: ReadonlySet<string>;
    readonly addressOf: AddressOf | null;
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
      if (addressOf === null) return mark === "!" ? "" : label;
      const address = addressOf(file, mark === "!" ? "picture" : "page");
      return `${mark}[${label}](${address}${anchor === undefined ? "" : `#${anchor}`})`;
    });
  let from = 0;
  let out = "";
  for (const code of text.matchAll(isCode)) {
    out += mended(text.slice(from, code.index)) + code[0];
    from = code.index + code[0].length;
  }
  return out + mended(text.slice(from));
}
