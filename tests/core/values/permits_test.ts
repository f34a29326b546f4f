import assert from "node:assert/strict";
import { test } from "node:test";
import { permits } from "../../../src/core/values/permits.ts";

test("permits() lets so many work at a time, the rest in the order they came, also after a failure", async () => {
  const permit = permits(2);
  const begun: number[] = [];
  const ends: ((fails: boolean) => void)[] = [];
  const work = (n: number) => () =>
    new Promise<number>((resolve, reject) => {
      begun.push(n);
      ends[n] = (fails) => fails ? reject(new Error(`${n}`)) : resolve(n);
    });
  const all = [0, 1, 2, 3].map((n) => permit(work(n)));
  await Promise.resolve();
  assert.deepEqual(begun, [0, 1]);
  ends[1]!(true);
  await assert.rejects(all[1]!, /^Error: 1$/);
  assert.deepEqual(begun, [0, 1, 2]);
  ends[0]!(false);
  ends[2]!(false);
  assert.deepEqual(await Promise.all([all[0], all[2]]), [0, 2]);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  ends[3]!(false);
  assert.equal(await all[3], 3);
});
