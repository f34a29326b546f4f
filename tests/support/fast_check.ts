/**
 * fast-check with the seed of this run. Import it from here: on its own it takes another seed each time. A property that
 * fails prints the seed and the path to its smallest counterexample.
 *
 * @module
 */
import fc from "fast-check";
import { SEED } from "./chance.ts";

fc.configureGlobal({ seed: SEED });

export default fc;
