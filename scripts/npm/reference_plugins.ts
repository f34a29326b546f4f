/**
 * Packs the reference plugins, each as an npm package of its own.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressOf, shippedPage } from "./pages.ts";

/** The repository, as far as the build knows it. */
export interface Repository {
  /** Fields of package.json. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly addressOf: AddressOf | null;
}

/** Writes `npm/kaged-<name>.tgz` for each reference plugin; returns the files. */
export async function packPlugins(repository: Repository): Promise<string[]> {
  const entries = await readdir("plugins");
  const packed: string[] = [];
  for (const name of entries) {
    const text = await readFile(`plugins/${name}/package.json`, "utf8").catch(() => null);
    if (text !== null) packed.push(await packPlugin(name, JSON.parse(text), repository));
  }
  return packed;
}

async function packPlugin(
  name: string,
  own: { readonly files: readonly string[] },
  { fields, addressOf }: Repository,
): Promise<string> {
  const [dir, archive, page] = [`npm/${name}`, `npm/kaged-${name}.tgz`, `plugins/${name}/README.md`];
  const manifest = { ...own, ...fields };
  const readme = shippedPage(await readFile(page, "utf8"), { page, shipped: new Set(), addressOf });
  await mkdir(`${dir}/package`, { recursive: true });
  await writeFile(`${dir}/package/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of own.files) await cp(`plugins/${name}/${file}`, `${dir}/package/${file}`);
  await writeFile(`${dir}/package/README.md`, readme);
  await copyFile("LICENSE", `${dir}/package/LICENSE`);
  execFileSync("tar", ["--owner=0", "--group=0", "-czf", archive, "-C", dir, "package"]);
  await rm(dir, { recursive: true });
  return archive;
}
