import assert from "node:assert/strict";
import { test } from "node:test";
import { addressBytes, isPublic, isUnicast } from "../../../../src/core/cage/net/address.ts";

test("addressBytes() reads both families, and an IPv4-mapped address as the IPv4 one", () => {
  assert.deepEqual(addressBytes("1.2.3.255"), Uint8Array.of(1, 2, 3, 255));
  assert.deepEqual(addressBytes("::ffff:1.2.3.4"), Uint8Array.of(1, 2, 3, 4));
  assert.deepEqual(addressBytes("::1"), Uint8Array.of(...Array(15).fill(0), 1));
  assert.deepEqual(addressBytes("2001:db8::a:b"), Uint8Array.of(0x20, 1, 0xd, 0xb8, ...Array(8).fill(0), 0, 10, 0, 11));
  assert.deepEqual(addressBytes("fe80::1%eth0")?.slice(0, 2), Uint8Array.of(0xfe, 0x80));
  for (const none of ["", "localhost", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "0x1.2.3.4", ":::", "g::"]) {
    assert.equal(addressBytes(none), null, none);
  }
});

test("isPublic() takes addresses of the internet", () => {
  const open = ["1.1.1.1", "93.184.216.34", "100.63.0.1", "100.128.0.1", "172.15.0.1", "172.32.0.1", "223.255.255.255"];
  for (const address of [...open, "2606:4700::1111", "2a00::1", "::ffff:1.1.1.1"]) {
    assert.ok(isPublic(address), address);
  }
});

test("isPublic() refuses this machine, its networks, and tunnels to them", () => {
  const closed = [
    ...["0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255"],
    ...["192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.8", "192.88.99.1", "198.18.0.1"],
    ...["198.19.255.255", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "203.0.113.9"],
    ...["::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1"],
    ...["fd12:3456::1", "ff02::1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1"],
    ...["3fff::1", "100::1", "not an address", ""],
  ];
  for (const address of closed) assert.equal(isPublic(address), false, address);
});

test("isUnicast() refuses what is no single machine", () => {
  for (const address of ["127.0.0.1", "10.0.0.1", "1.1.1.1", "::1", "fe80::1"]) assert.ok(isUnicast(address), address);
  for (const address of ["0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "ff02::1", "x"]) {
    assert.equal(isUnicast(address), false, address);
  }
});
