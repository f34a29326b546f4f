import assert from "node:assert/strict";
import { test } from "node:test";
import { fillVariables } from "../../../src/core/project/variables.ts";
import { FILE, LOCAL, manifestOf, pluginOf, refusalsOf, resolve, warningsOf, type With } from "./project_text.ts";
import fc from "../../support/fast_check.ts";

const SECRET = "s3cr3t-t0ken";
const service = await manifestOf(
  "service",
  `config_schema:
  type: object
  properties:
    url: { type: string, default: "https://a.example" }
    depth: { type: integer, minimum: 1 }
  required: [url]
  additionalProperties: false
system_config_schema:
  type: object
  properties:
    token: { type: string, minLength: 3, pattern: "^[a-z0-9-]+$" }
    retries: { type: integer, default: 3 }
  required: [token]
  additionalProperties: false
`,
);
const open = await manifestOf(
  "open",
  "system_config_schema: { type: object, properties: { token: { type: string } } }\n",
);
const bare = await manifestOf("bare");

const declare = (config: string, more: With = {}, pkg = "@x/service") =>
  resolve(`primary: { plugins: { p: { package: "${pkg}", config: ${config} } } }`, {
    plugins: { "@x/service": service, "@x/open": open, "@x/bare": bare },
    ...more,
  });
const toml = (lines: string, pkg = "@x/service") => ({ local: `[plugins."${pkg}"]\n${lines}\n` });
const dataOf = (resolved: Awaited<ReturnType<typeof declare>>) =>
  resolved.refusals.map(({ error }) => error.data as { side: string; errors: unknown; name: string; line?: number });

test("K-032 K-033 the plugin gets one object: defaults, project side and system side", async () => {
  const resolved = await declare("{ depth: 2 }", toml('token = "abc"'));
  assert.deepEqual(pluginOf(resolved, "primary", "p")?.config, {
    url: "https://a.example",
    depth: 2,
    token: "abc",
    retries: 3,
  });
  assert.deepEqual(pluginOf(resolved, "primary", "p")?.shownConfig, {
    url: "https://a.example",
    depth: 2,
    token: "‹set by operator›",
    retries: "‹set by operator›",
  });
});

test("K-033 each side is checked by its own schema, and every mistake is reported", async () => {
  const resolved = await declare("{ depth: 0, colour: red }", toml('token = "A!"\nretries = "many"'));
  assert.deepEqual(refusalsOf(resolved), ["primary/p project.config_invalid", "primary/p project.config_invalid"]);
  assert.deepEqual(dataOf(resolved).map(({ name, side, errors }) => ({ name, side, errors })), [
    {
      name: "service",
      side: "project",
      errors: [
        { path: "depth", message: "Is below 1", line: 1, column: 68 },
        { path: "colour", message: "Unknown field; fields here: url, depth", line: 1, column: 79 },
      ],
    },
    {
      name: "service",
      side: "system",
      errors: [
        { path: "token", message: "Is shorter than 3", line: 2, column: 9 },
        { path: "token", message: 'Does not match the pattern "^[a-z0-9-]+$"', line: 2, column: 9 },
        { path: "retries", message: "Expected integer, got string", line: 3, column: 11 },
      ],
    },
  ]);
  assert.ok(resolved.refusals[0]!.error.message.startsWith(FILE));
  assert.ok(resolved.refusals[1]!.error.message.startsWith(LOCAL));
});

test("K-033 project config that names a field of the operator's is refused", async () => {
  const resolved = await declare(`{ token: ${SECRET} }`, toml('token = "abc"'));
  assert.deepEqual(refusalsOf(resolved), ["primary/p project.system_config_key"]);
  assert.deepEqual(dataOf(resolved)[0]?.errors, [
    { path: "token", message: "Belongs to local.toml", line: 1, column: 68 },
  ]);
});

test("K-033 operator config that names a field of the project's is refused", async () => {
  const resolved = await declare("{}", toml('token = "abc"\nurl = "https://b.example"'));
  assert.deepEqual(dataOf(resolved)[0], {
    ...dataOf(resolved)[0],
    side: "system",
    errors: [{ path: "url", message: "Belongs to project.yaml", line: 3, column: 7 }],
  });
});

test("K-033 a field the open schema of the operator's takes cannot be set by both", async () => {
  const resolved = await declare("{ extra: 1 }", toml("extra = 2", "@x/open"), "@x/open");
  assert.deepEqual(refusalsOf(resolved), ["primary/p project.system_config_key"]);
});

test("a plugin without schemas gets the project's config as it is, and none of the operator's values", async () => {
  const resolved = await declare("{ any: [1] }", toml(`token = "${SECRET}"`, "@x/bare"), "@x/bare");
  assert.deepEqual(pluginOf(resolved, "primary", "p")?.config, { any: [1] });
  assert.deepEqual(warningsOf(resolved), ["project.undeclared_secrets 1:1 plugins"]);
  assert.ok(!JSON.stringify(resolved).includes(SECRET));
});

test("K-032 a missing field of the operator's is reported with its side", async () => {
  const resolved = await declare("{}");
  assert.deepEqual(dataOf(resolved)[0]?.errors, [{ path: "token", message: 'Field "token" is missing' }]);
});

test("K-032 variables are filled in where the operator writes them", async () => {
  const lines = 'token = "a-${A}-${B_2}"';
  const resolved = await declare("{}", { ...toml(lines), env: { A: "x", B_2: "y" } });
  assert.equal(pluginOf(resolved, "primary", "p")?.config.token, "a-x-y");
});

test("K-032 a variable that is not set is reported with its name, the file and the line", async () => {
  const resolved = await declare("{}", { ...toml('# one\ntoken = "${NOPE}"'), env: {} });
  assert.deepEqual(refusalsOf(resolved), ["primary/p project.variable_missing"]);
  const { message, data } = resolved.refusals[0]!.error;
  assert.match(message, new RegExp(`^${LOCAL}:3:9: .*token: Variable "NOPE" is not set$`));
  assert.equal((data as { line: number }).line, 3);
});

test("K-032 $${ stands for ${, and only names of variables are filled", () => {
  const env = (name: string) => name === "A" ? "1" : null;
  assert.deepEqual(fillVariables({ x: ["$${A}", "${A}$${A}", "$A", "${A", "$$A", "cost: 5$"] }, env), {
    value: { x: ["${A}", "1${A}", "$A", "${A", "$$A", "cost: 5$"] },
    missing: [],
  });
  assert.deepEqual(fillVariables({ x: ["${a b}", "${}"] }, env).missing, [
    { name: "a b", path: ["x", 0] },
    { name: "", path: ["x", 1] },
  ]);
});

test("a filled value is not filled again", () => {
  const env = (name: string) => ({ A: "${B}", B: "no" })[name] ?? null;
  assert.deepEqual(fillVariables("${A}", env).value, "${B}");
});

test("committed files are not filled: a project cannot take the operator's variables", async () => {
  const resolved = await declare('{ any: "${HOME}" }', { env: { HOME: SECRET } }, "@x/bare");
  assert.equal(pluginOf(resolved, "primary", "p")?.config.any, "${HOME}");
  assert.deepEqual(warningsOf(resolved), ["project.variable_unfilled 1:63 primary.plugins.p.config.any"]);
  assert.ok(!JSON.stringify(resolved).includes(SECRET));
});

test("K-033 whatever the operator's values are, nothing that is shown holds one", async () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>("x", "A!", 3, true, ["q"], { deep: 1 }),
    fc.string({ minLength: 8, maxLength: 20 }).map((text) => `zz${text}zz`),
  );
  const key = fc.constantFrom("token", "retries", "url", "other", "installed");
  const { stringify } = await import("@decimalturn/toml-patch");
  const secretsIn = (part: unknown): string[] => {
    if (typeof part === "string") return part.length > 4 ? [part] : [];
    return typeof part === "object" && part !== null ? Object.values(part).flatMap(secretsIn) : [];
  };
  await fc.assert(
    fc.asyncProperty(fc.dictionary(key, value), fc.constantFrom("service", "open", "bare"), async (values, name) => {
      const pkg = `@x/${name}`;
      const resolved = await declare("{}", { local: stringify({ plugins: { [pkg]: values } }) }, pkg);
      const open = resolved.agents.flatMap(({ plugins }) =>
        plugins.map(({ config: _, override: __, ...rest }) => rest)
      );
      const shown = JSON.stringify([
        open,
        resolved.warnings,
        resolved.missing,
        resolved.refusals.map(({ error, ...rest }) => [rest, error.message, error.hint, error.data]),
      ]);
      for (const secret of secretsIn(values)) {
        assert.ok(!shown.includes(JSON.stringify(secret).slice(1, -1)), `${secret} in ${shown}`);
      }
    }),
  );
});

test("K-033 every mistake of a config stands in its message, with the line where the value is written", async () => {
  const text = `primary:
  plugins:
    p:
      package: "@x/service"
      isolation: project
      config:
        depth: 0
  subagents:
    a:
      plugins:
        p:
          config: { url: 1 }
`;
  const local = '[plugins."@x/service"]\nretries = "many"\n\n# below\nother = 1\n';
  const plugins = { "@x/service": service };
  const messages = (await resolve(text, { plugins, local })).refusals.map(({ error }) => error.message);
  assert.deepEqual(messages.slice(0, 2), [
    `${FILE}:7:16: The project config of "service" for "primary" is wrong: depth: Is below 1`,
    `${LOCAL}:1:1: The system config of "service" for "primary" is wrong: token: Field "token" is missing; ` +
    "line 2: retries: Expected integer, got string; line 5: other: Unknown field; fields here: token, retries",
  ]);
  const mended = await resolve(text.replace("depth: 0", "depth: 2"), { plugins, ...toml('token = "abc"') });
  assert.deepEqual(mended.refusals.map(({ error }) => error.message), [
    `${FILE}:12:26: The project config of "service" for "primary.subagents.a" is wrong: url: Expected string, got number`,
  ]);
});

test("K-032 a secret that local.toml does not hold at all is reported with the command that sets it", async () => {
  const { message, hint } = (await declare("{}")).refusals[0]!.error;
  assert.equal(
    message,
    `${LOCAL}: The system config of "service" for "primary" is wrong: token: Field "token" is missing`,
  );
  assert.equal(hint, "Run: kaged secret set @x/service token");
});
