/** Publishes a text with every plugin of the kind `writer`: one dispatch of each class. */
import { createHost } from "../../mod.ts";

const here = import.meta.dirname!;
await using host = await createHost({
  project: here,
  plugins: Object.fromEntries(["js", "py", "go"].map((one) => [`@example/writer-${one}`, `${here}/writer-${one}`])),
});
const { failed } = await host.start();
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);

const at = { agent: "primary", session: host.openSession().id };
const draft = { text: "  plugins of three languages write one text " };

const { answers } = await host.kinds.dispatch("writer", "describe", {}, at) as Described;
for (const { name, value } of answers) console.log(`${name}: ${value.language} writes ${value.formats.join(", ")}`);
const formats = new Map(answers.map(({ name, value }) => [name, value.formats]));

const { value: polished } = await host.kinds.dispatch("writer", "polish", draft, at) as Polished;
console.log(`polished: ${polished.text}`);
const title = await host.kinds.dispatch("writer", "title", polished, { ...at, plugin: "writer-py" }) as Text;
console.log(`title: ${title.text}`);
for (const format of ["plain", "html", "shout"]) {
  // The plugins themselves said what they can write.
  const weigh = (plugin: string) => ({ capabilities: formats.get(plugin) ?? [] });
  const input = { ...polished, format };
  const { text } = await host.kinds.dispatch("writer", "render", input, { ...at, weigh, capability: format }) as Text;
  console.log(`${format}: ${text}`);
}
await host.kinds.dispatch("writer", "published", { ...polished, at: new Date().toISOString() }, at);

interface Text {
  readonly text: string;
}

interface Polished {
  readonly value: Text;
}

interface Described {
  readonly answers: readonly {
    readonly name: string;
    readonly value: { readonly language: string; readonly formats: readonly string[] };
  }[];
}
