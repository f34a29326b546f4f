/** A loop on Deno in which you play the model: each line you type is a tool call, and you see what a model would see. */
import { createHost, HostError } from "../../mod.ts";

await using host = await createHost({
  project: import.meta.dirname!,
  plugins: { notes: `${import.meta.dirname}/../plugins/notes` }, // A folder this program vouches for.
});
const { failed } = await host.start(); // A plugin that does not start is listed here, not thrown: the others run.
for (const { instance, error } of failed) console.error(`${instance} is not there: ${error.message}`);

const session = host.openSession();
const { systemPrompt } = await session.start("You keep notes for Ada.");
console.log(systemPrompt);
for (const { name, description } of session.tools()) console.log(`  ${name}: ${description}`);

const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(lineByLine());
for await (const line of lines) {
  const [, name = "", json = "{}"] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
  session.record({ role: "user", content: line });
  try {
    const { output } = await session.callTool(name, JSON.parse(json || "{}"));
    console.log(JSON.stringify(output));
  } catch (error) {
    // The model reads why the call failed and may try again; JSON.parse throws SyntaxError for malformed arguments.
    if (error instanceof HostError) console.log(`error[${error.code}]: ${error.message}`);
    else if (error instanceof SyntaxError) console.log(`error: ${error.message}`);
    else throw error;
  }
}
await session.close();

function lineByLine(): TransformStream<string, string> {
  let rest = "";
  return new TransformStream({
    transform(chunk, out) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop()!;
      for (const part of parts) if (part.trim() !== "") out.enqueue(part);
    },
    flush: (out) => void (rest.trim() !== "" && out.enqueue(rest)),
  });
}
