import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { findBwrap } from "../../../src/core/cage/find_bwrap.ts";
import type { FileInfo, Runtime } from "../../../src/core/ports/ports.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { files } = runtime;

/** The machine, with what stands at each path of bubblewrap changed. */
const machine = (change: (info: FileInfo | null, path: string) => FileInfo | null): Runtime => ({
  ...runtime,
  files: { ...files, target: async (path) => change(await files.target(path), path) },
});
const like = (own: Partial<FileInfo>): Runtime => machine((info) => info && { ...info, ...own });

async function fakeBwrap(t: TestContext, help: string): Promise<Runtime> {
  const path = `${await scratchDir(t)}/bwrap`;
  await files.write(path, `#!/bin/sh\ncat <<'EOF'\n${help}\nEOF\n`, 0o755);
  return {
    ...runtime,
    files: {
      ...files,
      target: async (asked) => {
        if (asked !== "/usr/bin/bwrap") return null;
        const info = await files.target(path);
        return info && { ...info, uid: 0 };
      },
      realPath: () => Promise.resolve(path),
    },
  };
}

const here = async (t: TestContext): Promise<boolean> =>
  await requireOrSkip(t, "bubblewrap", async () => await files.info("/usr/bin/bwrap") !== null, "install bubblewrap");

test("findBwrap() finds the system's bubblewrap and what it can do", async (t) => {
  if (!await here(t)) return;
  const { path, flags } = await findBwrap(runtime);
  assert.equal(path, "/usr/bin/bwrap");
  assert.ok(flags.has("--unshare-user") && flags.has("--json-status-fd"));
});

test("findBwrap() says where it looked when there is none", async () => {
  await assert.rejects(findBwrap(machine(() => null)), {
    code: "cage.bwrap_missing",
    hint: /apt-get install bubblewrap/,
  });
  await assert.rejects(findBwrap(runtime, { bwrap: "/no/such/bwrap" }), {
    code: "cage.bwrap_missing",
    message: /\/no\/such\/bwrap/,
  });
});

test("findBwrap() trusts no file that others could change, that has more rights than its caller, or that nobody may run", async (t) => {
  if (!await here(t)) return;
  for (
    const own of [{ mode: 0o4755 }, { mode: 0o2755 }, { mode: 0o775 }, { mode: 0o757 }, { mode: 0o644 }, { uid: 1000 }]
  ) {
    await assert.rejects(findBwrap(like(own)), { code: "cage.bwrap_untrusted" }, JSON.stringify(own));
  }
  await assert.rejects(findBwrap(like({ kind: "directory" })), { code: "cage.bwrap_untrusted" });
});

test("findBwrap() tells a bubblewrap of another user from one whose owner the host's user namespace hides", async (t) => {
  if (!await here(t)) return;
  const owned = like({ uid: 65_534 });
  const mapped = (map: string): Runtime => ({
    ...owned,
    files: {
      ...owned.files,
      readText: (path) => path.endsWith("uid_map") ? Promise.resolve(map) : files.readText(path),
    },
  });
  await assert.rejects(findBwrap(mapped("0 1000 1\n")), { message: /namespace does not map/, hint: /outside that/ });
  await assert.rejects(findBwrap(mapped("0 0 4294967295\n")), { message: /does not belong to root$/ });
});

test("findBwrap() asks the same of the bubblewrap a setting names", async (t) => {
  const path = `${await scratchDir(t)}/bwrap`;
  await files.write(path, "#!/bin/sh\n", 0o755);
  await assert.rejects(findBwrap(like({ uid: 1000 }), { bwrap: path }), { code: "cage.bwrap_untrusted" });
});

test("findBwrap() names the flags an old bubblewrap lacks", async (t) => {
  const old = await fakeBwrap(t, "--args FD\n--bind SRC DEST\n--ro-bind SRC DEST\n");
  await assert.rejects(findBwrap(old), { code: "cage.bwrap_old", message: /--json-status-fd.*--unshare-user/ });
});
