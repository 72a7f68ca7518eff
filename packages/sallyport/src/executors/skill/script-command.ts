import { basename } from 'node:path';
import { SKILL_RUN_BOUNDS } from './settings.ts';

/** The interpreter of a script: a program with arguments before the script's path. */
export type Starter = readonly [string, ...string[]];

/** Interpreters of scripts without a `#!` line, by file extension. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  py: 'python3',
  sh: 'sh',
  bash: 'bash',
  js: 'node',
  mjs: 'node',
  cjs: 'node',
  ts: 'node',
  rb: 'ruby',
  pl: 'perl',
  php: 'php',
  lua: 'lua',
  ps1: 'pwsh',
};
const SHELL = /^(?:ba|da|z|k|mk|a)?sh$/;

/**
 * The interpreter of a script, from its `#!` line, else from its extension. Undefined when neither names one.
 * @param head the first bytes of the script
 */
export function starterOf(path: string, head: Buffer): Starter | undefined {
  const shebang = shebangOf(head);
  if (shebang !== undefined) return shebang;
  const extension = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const program = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  return program === undefined ? undefined : [program];
}

/** True when a shell runs the script, so that its text can be screened. */
export function isShell(starter: Starter): boolean {
  return SHELL.test(basename(starter[0]));
}

/**
 * Parsed like the kernel, except that `env` and `env -S` are removed: the program is looked up in the sandbox's PATH.
 */
function shebangOf(head: Buffer): Starter | undefined {
  if (head[0] !== 0x23 || head[1] !== 0x21) return undefined;
  const end = head.subarray(0, SKILL_RUN_BOUNDS.shebangBytesMax).indexOf(0x0a);
  if (end === -1) return undefined;
  const words = head.toString('utf8', 2, end).trim().split(/\s+/).filter(Boolean);
  const [first, ...rest] = words;
  if (first === undefined) return undefined;
  if (basename(first) !== 'env') return [first, ...rest];
  const [program, ...more] = rest[0] === '-S' ? rest.slice(1) : rest;
  // Options and assignments of env are not supported, so such a script is not started.
  if (program === undefined || program.startsWith('-') || program.includes('=')) return undefined;
  return [program, ...more];
}
