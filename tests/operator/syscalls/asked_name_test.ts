import assert from "node:assert/strict";
import { test } from "node:test";
import { askedName } from "../../../src/operator/syscalls/asked_name.ts";

const HEADER = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00";
const NAME = "\x03api\x06github\x03com\x00";

test("askedName() reads the host of a question for an address, with or without an EDNS record after it", () => {
  assert.equal(askedName(`${HEADER}${NAME}\x00\x01\x00\x01`), "api.github.com");
  assert.equal(askedName(`${HEADER}${NAME.toUpperCase()}\x00\x1c\x00\x01`), "api.github.com");
  assert.equal(askedName(`${HEADER.slice(0, 11)}\x01${NAME}\x00\x01\x00\x01\x00\x00)\x04\xd0`), "api.github.com");
});

test("askedName() takes nothing else for a question: answers, other types, cut messages, other bytes", () => {
  const others = [
    `\x12\x34\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00${NAME}\x00\x01\x00\x01`,
    `${HEADER}${NAME}\x00\x21\x00\x01`,
    `${HEADER}${NAME}\x00\x01`,
    `${HEADER}\x03api\x06git`,
    `${HEADER}\xc0\x0c\x00\x01\x00\x01`,
    `${HEADER}\x00\x00\x01\x00\x01`,
    `${HEADER}\x04_tcp\x03com\x00\x00\x01\x00\x01`,
    "GET / HTTP/1.1\r\n",
    "",
  ];
  for (const bytes of others) assert.equal(askedName(bytes), null, JSON.stringify(bytes));
});
