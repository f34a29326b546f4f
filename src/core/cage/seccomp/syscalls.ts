/**
 * The system calls the filter has a rule for, with their numbers.
 *
 * From the kernel's own headers: `asm/unistd_64.h` for x86_64, `asm-generic/unistd.h` for aarch64, both for Linux 6.1;
 * calls younger than that have one number on every architecture.
 *
 * @module
 */

/** The highest number this list was made against (`file_setattr`, Linux 6.17): whatever comes later stays closed. */
export const HIGHEST_SYSCALL = 469;

/** Name → number on x86_64 and on aarch64; null where the call does not exist. */
export type Syscalls = Readonly<Record<string, readonly [x86_64: number, aarch64: number | null]>>;

/** Judged by their arguments; the ones that programs make most often come first. */
export const JUDGED: Syscalls = {
  openat: [257, 56],
  open: [2, null],
  creat: [85, null],
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  mkdir: [83, null],
  mkdirat: [258, 34],
  mknod: [133, null],
  mknodat: [259, 33],
  renameat2: [316, 276],
  clone: [56, 220],
  close_range: [436, 436],
  ioctl: [16, 29],
  personality: [135, 92],
  socket: [41, 198],
  socketpair: [53, 199],
};

/** Refused with EPERM: they exist, and a caged program has no use for them. */
export const REFUSED: Syscalls = {
  // Other processes, and the kernel's own memory of keys, pages and programs.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  keyctl: [250, 219],
  request_key: [249, 218],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  lsm_set_self_attr: [460, 460],
  move_pages: [279, 239],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  get_mempolicy: [239, 236],
  migrate_pages: [256, 238],
  set_mempolicy_home_node: [450, 450],
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  // The machine: its kernel, clock, name, swap, ports and logs.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, null],
  query_module: [178, null],
  get_kernel_syms: [177, null],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  syslog: [103, 116],
  uselib: [134, null],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  lookup_dcookie: [212, 18],
  vhangup: [153, 58],
};

/**
 * Answered with EOPNOTSUPP, as by a file system without extended attributes: programs that copy files go on without
 * them. An access control list is such an attribute too, and changes the mode of a file.
 */
export const UNSUPPORTED: Syscalls = {
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  setxattrat: [463, 463],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  removexattrat: [466, 466],
  file_setattr: [469, 469],
};

/** Answered with ENOSYS: programs take that for an older kernel and fall back. */
export const ABSENT: Syscalls = {
  // Their flags lie in memory, where a filter cannot look; programs fall back to clone and openat.
  clone3: [435, 435],
  openat2: [437, 437],
  // Does what fchmodat does, with flags; the C library falls back to that one.
  fchmodat2: [452, 452],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  statmount: [457, 457],
  listmount: [458, 458],
  nfsservctl: [180, 42],
  _sysctl: [156, null],
  ustat: [136, null],
  sysfs: [139, null],
  memfd_secret: [447, 447],
};
