/**
 * Packs the packages beside the host's: the reference plugins, and the SDK for plugins in JavaScript.
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

interface OwnManifest {
  readonly name: string;
  readonly files: readonly string[];
}

/** Writes `npm/kaged-<name>.tgz` for each package; returns the files. */
export async function packSmall(repository: Repository): Promise<string[]> {
  const plugins = (await readdir("plugins")).map((name) => `plugins/${name}`);
  const packed: string[] = [];
  for (const folder of [...plugins, "sdk/javascript"]) {
    const text = await readFile(`${folder}/package.json`, "utf8").catch(() => null);
    if (text !== null) packed.push(await pack(folder, JSON.parse(text), repository));
  }
  return packed;
}

async function pack(folder: string, own: OwnManifest, { fields, addressOf }: Repository): Promise<string> {
  const name = own.name.replace("@kaged/", "");
  const [dir, archive, page] = [`npm/${name}`, `npm/kaged-${name}.tgz`, `${folder}/README.md`];
  const manifest = { ...own, ...fields };
  const readme = shippedPage(await readFile(page, "utf8"), { page, shipped: new Set(), addressOf });
  await mkdir(`${dir}/package`, { recursive: true });
  await writeFile(`${dir}/package/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of own.files) await cp(`${folder}/${file}`, `${dir}/package/${file}`);
  await writeFile(`${dir}/package/README.md`, readme);
  await copyFile("LICENSE", `${dir}/package/LICENSE`);
  execFileSync("tar", ["--owner=0", "--group=0", "-czf", archive, "-C", dir, "package"]);
  await rm(dir, { recursive: true });
  return archive;
}
