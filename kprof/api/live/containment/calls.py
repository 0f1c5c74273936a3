"""Numbers of the system calls that a sandboxed process may make, from the kernel's tables for x86_64 and aarch64.

A call that is in none of the tables below is refused. ``None`` means that aarch64 does not have the call: its table is
newer and omits old calls.
"""

Numbers = tuple[int, int | None]
"""A system call's numbers on x86_64 and on aarch64."""

NEWEST = 451
"""Number of the newest system call in these tables. The filter answers newer calls with "no such call", so that the C
library falls back to the older call."""

ALLOWED: dict[str, Numbers] = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70), "open": (2, None), "openat": (257, 56),
    "close": (3, 57), "close_range": (436, 436), "lseek": (8, 62), "stat": (4, None), "fstat": (5, 80),
    "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291), "access": (21, None), "faccessat": (269, 48),
    "faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78), "getdents64": (217, 61),
    "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24),
    "pipe": (22, None), "pipe2": (293, 59), "poll": (7, None), "ppoll": (271, 73), "select": (23, None),
    "pselect6": (270, 72), "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None),
    "epoll_pwait": (281, 22), "eventfd2": (290, 19), "flock": (73, 32), "ftruncate": (77, 46), "fallocate": (285, 47),
    "fadvise64": (221, 223), "fsync": (74, 82), "fdatasync": (75, 83), "mkdir": (83, None), "mkdirat": (258, 34),
    "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38),
    "renameat2": (316, 276), "umask": (95, 166), "statfs": (137, 43), "fstatfs": (138, 44),
    "copy_file_range": (326, 285), "sendfile": (40, 71), "readahead": (187, 213), "mmap": (9, 222),
    "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216), "madvise": (28, 233), "brk": (12, 214),
    "mincore": (27, 232), "msync": (26, 227), "get_mempolicy": (239, 236), "membarrier": (324, 283),
    "futex": (202, 98), "set_robust_list": (273, 99), "get_robust_list": (274, 100), "set_tid_address": (218, 96),
    "rseq": (334, 293), "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "arch_prctl": (158, None), "exit": (60, 93), "exit_group": (231, 94),
    "wait4": (61, 260), "gettid": (186, 178), "getpid": (39, 172), "getppid": (110, 173), "getpgrp": (111, None),
    "getpgid": (121, 155), "getsid": (124, 156), "restart_syscall": (219, 128), "getcpu": (309, 168),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "pause": (34, None),
    "alarm": (37, None), "setitimer": (38, 103), "getitimer": (36, 102), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169),
    "time": (201, None), "times": (100, 153), "getrusage": (98, 165), "uname": (63, 160), "sysinfo": (99, 179),
    "getrandom": (318, 278), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "getgroups": (115, 158), "getresuid": (118, 148), "getresgid": (120, 150), "capget": (125, 90),
    "getrlimit": (97, 163),
}  # fmt: skip
"""Calls on the process's own resources: memory, threads, clocks, its signals, and files that Landlock allows."""

NETWORK: dict[str, Numbers] = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242), "getsockname": (51, 204), "getpeername": (52, 205),
    "getsockopt": (55, 209), "setsockopt": (54, 208), "sendto": (44, 206), "recvfrom": (45, 207),
    "sendmsg": (46, 211), "recvmsg": (47, 212), "sendmmsg": (307, 269), "recvmmsg": (299, 243), "shutdown": (48, 210),
}  # fmt: skip
"""Socket calls, allowed if the candidate may use the network."""

PRETENDED: dict[str, Numbers] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53),
}  # fmt: skip
"""Calls that appear to succeed but do nothing.

A linker needs them to set its output's mode; Landlock cannot restrict them.
"""

CONDITIONAL: dict[str, Numbers] = {
    "clone": (56, 220), "clone3": (435, 435), "kill": (62, 129), "tgkill": (234, 131), "prctl": (157, 167),
    "prlimit64": (302, 261), "fcntl": (72, 25), "ioctl": (16, 29),
}  # fmt: skip
"""Calls that are allowed for some arguments, which :mod:`kprof.api.live.containment.call_filter` lists."""
