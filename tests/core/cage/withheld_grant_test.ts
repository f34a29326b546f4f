import assert from "node:assert/strict";
import { test } from "node:test";
import { explainFailure, type FailureTrace } from "../../../src/core/cage/missing_grant.ts";
import { pathHint } from "../../../src/core/cage/withheld_grant.ts";
import { readCapabilities } from "../../../src/core/manifest/capability.ts";

const withheld = (...capabilities: string[]) => ({
  plugin: "notes",
  capabilities: readCapabilities(capabilities),
  places: { installDir: "/p", home: "/h", projectDir: "/srv/project" },
});
const hint = (...names: string[]): string =>
  `${names.join(", ")}: withheld by the operator. Grant with kaged plugin grant notes ` +
  names.map((name) => `'${name}'`).join(" ");
const trace: FailureTrace = { rules: [], text: "", stderr: [], isSilent: false, refused: [] };
const refused = [{ kind: "refused", host: "a.example", port: 443, reason: "not-allowed" }] as const;
const missingGrantHint = (given: FailureTrace): string | null => explainFailure(given).hint;

test("explainFailure() names the withheld capability that a refused host would have needed, and no other", () => {
  const both = withheld("net:a.example:443", "net:b.example:443");
  assert.equal(missingGrantHint({ ...trace, refused, withheld: both }), hint("net:a.example:443"));
  assert.equal(missingGrantHint({ ...trace, refused, withheld: withheld("net:*") }), hint("net:*"));
  assert.match(
    missingGrantHint({ ...trace, refused, withheld: withheld("net:b.example:443") })!,
    /^net:a\.example:443 is not granted: add it/,
  );
});

test("explainFailure() names what is withheld where the network fails and no host is named", () => {
  const text = "fetch failed";
  assert.match(missingGrantHint({ ...trace, text })!, /^The plugin has no network grant/);
  assert.equal(
    missingGrantHint({ ...trace, text, withheld: withheld("net:a.example:443") }),
    hint("net:a.example:443"),
  );
  assert.match(
    missingGrantHint({ ...trace, text, withheld: withheld("read:fs:/data") })!,
    /^The plugin has no network grant/,
  );
});

test("pathHint() finds the withheld path, and those below it, in the text of a failure", () => {
  const paths = withheld("read:fs:/data", "write:fs:project:/docs", "read:fs:config:/notes");
  assert.equal(pathHint(paths, "ENOENT: no such file, open '/data/a.txt'"), hint("read:fs:/data"));
  assert.equal(pathHint(paths, "cannot write /srv/project/docs"), hint("write:fs:project:/docs"));
  assert.equal(pathHint(paths, "no /h/files/notes/x"), hint("read:fs:config:/notes"));
  assert.equal(pathHint(paths, "open '/database/a.txt'"), null);
  assert.equal(pathHint(null, "/data"), null);
});
