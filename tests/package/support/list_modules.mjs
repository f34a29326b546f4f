// Imports the module it is given and prints every URL that this loaded.
import { registerHooks } from "node:module";
import process from "node:process";

const urls = new Set();
registerHooks({
  load(url, context, next) {
    urls.add(url);
    return next(url, context);
  },
});
await import(process.argv[2]);
console.log(JSON.stringify([...urls]));
