/**
 * Packs the reference plugins, each as an npm package of its own.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";

/** Writes `npm/kaged-<name>.tgz` for each reference plugin; `fields` are added to its package.json. Returns the files. */
export async function packPlugins(fields: Readonly<Record<string, unknown>>): Promise<string[]> {
  const entries = await readdir("plugins", { recursive: false });
  const packed: string[] = [];
  for (const name of entries) {
    const text = await readFile(`plugins/${name}/package.json`, "utf8").catch(() => null);
    if (text !== null) packed.push(await packPlugin(name, { ...JSON.parse(text), ...fields }));
  }
  return packed;
}

async function packPlugin(name: string, manifest: Record<string, unknown>): Promise<string> {
  const dir = `npm/${name}`;
  const [files, archive] = [manifest["files"] as string[], `npm/kaged-${name}.tgz`];
  await mkdir(`${dir}/package`, { recursive: true });
  await writeFile(`${dir}/package/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of files) await cp(`plugins/${name}/${file}`, `${dir}/package/${file}`);
  await copyFile(`plugins/${name}/README.md`, `${dir}/package/README.md`);
  await copyFile("LICENSE", `${dir}/package/LICENSE`);
  execFileSync("tar", ["--owner=0", "--group=0", "-czf", archive, "-C", dir, "package"]);
  await rm(dir, { recursive: true });
  return archive;
}
