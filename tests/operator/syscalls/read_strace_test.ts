import assert from "node:assert/strict";
import { test } from "node:test";
import { readStrace } from "../../../src/operator/syscalls/read_strace.ts";

const LAUNCH = [
  '10 execve("/bin/bash", ["/bin/bash", "-c", "exec 9<args"], 0x1 /* 0 vars */) = 0',
  '10 openat(AT_FDCWD</run>, "args", O_RDONLY) = 3</run/args>',
  '10 execve("/usr/bin/bwrap", ["/usr/bin/bwrap", "--args", "8"], 0x1 /* 0 vars */) = 0',
  '11 openat(AT_FDCWD</>, "/secret/of/the/host", O_RDONLY) = 3',
  '12 mkdir("/newroot/etc", 0755) = 0',
  '12 execve("/usr/bin/bash", ["bash"], 0x1 /* 14 vars */) = 0',
];
const read = (...lines: string[]) => readStrace([...LAUNCH, ...lines].join("\n"), "/plugin");
const paths = (...lines: string[]): string[] =>
  read(...lines).paths.map(({ path, access, ok }) => `${ok ? "" : "no "}${access} ${path}`);

test("readStrace() leaves out the launcher and bubblewrap, whatever they do meanwhile", () => {
  const seen = read('11 openat(AT_FDCWD</>, "/proc/1/status", O_RDONLY) = 3', '10 unlink("/x") = 0');
  assert.deepEqual(seen, { paths: [], programs: ["/usr/bin/bash"], addresses: [], names: [], ports: [] });
  assert.deepEqual(readStrace(LAUNCH.slice(0, 4).join("\n"), "/plugin").programs, []);
});

test("readStrace() sets reading apart from writing, and shows refusals", () => {
  const seen = paths(
    '12 openat(AT_FDCWD</plugin>, "/a", O_RDONLY|O_CLOEXEC) = 3</a>',
    '12 openat(AT_FDCWD</plugin>, "/b", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</b>',
    '12 openat(AT_FDCWD</plugin>, "/O_RDWR", O_RDONLY) = -1 ENOENT (No such file or directory)',
    '12 statx(AT_FDCWD</plugin>, "/c", AT_STATX_SYNC_AS_STAT, STATX_ALL, {stx_mask=0}) = 0',
    '12 unlink("/d")                      = -1 EROFS (Read-only file system)',
    '12 rename("/e", "/f") = 0',
    '12 symlink("/target", "/g") = 0',
    '12 newfstatat(3</a>, "", {st_mode=S_IFREG|0600, st_size=1, ...}, AT_EMPTY_PATH) = 0',
  );
  assert.deepEqual(seen, [
    ...["read /a", "write /b", "no read /O_RDWR", "read /c", "no write /d", "write /e", "write /f", "write /g"],
  ]);
});

test("readStrace() finds relative paths from the folder of each process", () => {
  const seen = paths(
    '12 mkdir("first", 0777) = 0',
    '13 openat(AT_FDCWD</other>, "x", O_RDONLY) = 3',
    '13 mkdir("../y", 0777) = 0',
    '12 chdir("/data/./in/..") = 0',
    '12 access("z", R_OK) = 0',
    '12 openat(5</srv/dir>, "inner", O_RDONLY) = 6',
  );
  assert.deepEqual(seen, [
    ...["write /plugin/first", "read /other/x", "write /y", "read /data", "read /data/z", "read /srv/dir/inner"],
  ]);
});

test("readStrace() joins calls that another process interrupted, and undoes escapes", () => {
  const seen = paths(
    '12 openat(AT_FDCWD</plugin>, "/slow", O_RDONLY <unfinished ...>',
    '13 openat(AT_FDCWD</plugin>, "/b\\303\\274cher \\"x\\"", O_RDONLY) = 3',
    "12 <... openat resumed>) = -1 ENOENT (No such file or directory)",
    "12 +++ exited with 0 +++",
    "garbage",
    '12 openat(AT_FDCWD</plugin>, "/cut"..., O_RDONLY) = 3',
  );
  assert.deepEqual(seen, ['read /bücher "x"', "no read /slow"]);
});

test("readStrace() finds programs, addresses and ports", () => {
  const seen = read(
    '12 execve("/usr/bin/jq", ["jq"], 0x1 /* 3 vars */) = 0',
    '13 execve("/usr/bin/curl", ["curl"], 0x1 /* 3 vars */) = -1 ENOENT (No such file or directory)',
    '12 connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("1.2.3.4")}, 16) = -1 ' +
      "ENETUNREACH (Network is unreachable)",
    "12 connect(3<socket:[1]>, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), " +
      'inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 EINPROGRESS (In progress)',
    '12 connect(3<socket:[1]>, {sa_family=AF_UNIX, sun_path="/x"}, 110) = 0',
    '12 bind(4<socket:[2]>, {sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
  );
  assert.deepEqual(seen.programs, ["/usr/bin/bash", "/usr/bin/jq"]);
  assert.deepEqual(seen.paths, [{ path: "/usr/bin/curl", access: "read", ok: false }]);
  assert.deepEqual(seen.addresses, [
    { address: "1.2.3.4", port: 80, ok: false },
    { address: "2001:db8::1", port: 443, ok: null },
  ]);
  assert.deepEqual(seen.ports, [8080]);
});

test("readStrace() finds the names that a program asked a name server for", () => {
  const { names } = read(
    '12 sendmmsg(22<socket:[1]>, [{msg_hdr={msg_name=NULL, msg_iov=[{iov_base="\\375\\30\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\3api' +
      '\\6github\\3com\\0\\0\\1\\0\\1", iov_len=32}]}, msg_len=32}], 2, MSG_NOSIGNAL) = 1',
    '12 sendto(22<socket:[1]>, "F\\351\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\2DB\\7example\\3com\\0\\0\\34\\0\\1", 32, 0, NULL, 0) = 32',
    '12 sendto(22<socket:[1]>, "GET / HTTP/1.1\\r\\nHost: a.example\\r\\n", 33, 0, NULL, 0) = 33',
  );
  assert.deepEqual(names, ["api.github.com", "db.example.com"]);
});
