/** A file or folder that a program may touch, by its absolute path. `rw` allows reading too. */
export type FilesystemPermission = { path: string; mode: 'ro' | 'rw' };

/** A host that a program may reach: an exact name or an IP literal, and a port from 1 to 65535. */
export type NetworkPermission = { host: string; port: number };

/**
 * Strength of the isolation between a program and the host, weakest first: nothing; an interpreter of our own
 * (WebAssembly); the host's kernel, narrowed by namespaces and a call filter; another kernel in user space; another
 * kernel on virtual hardware. A tool that asks for a level never runs below it (SBX-02).
 */
export const ISOLATION_LEVELS = ['none', 'interpreter', 'namespaces', 'user_kernel', 'microvm'] as const;
/** One level of isolation. */
export type IsolationLevel = (typeof ISOLATION_LEVELS)[number];
