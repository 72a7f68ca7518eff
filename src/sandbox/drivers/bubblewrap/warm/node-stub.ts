import { LAUNCHER_FDS } from '../process/launcher.ts';

/** Where a waiting Node finds its program, which is gone before it waits. */
export const NODE_STUB_AT = '/tmp/.waiting.cjs';

/** Parts of Node that nearly every script needs, loaded while nobody waits for them. A script cannot see that they are. */
const NODE_PRELOADED = ['net', 'tty', 'stream', 'stream/promises', 'fs/promises', 'url', 'util', 'readline', 'crypto'];

/**
 * Program for Node that waits until it gets a job, `node script arguments`, and then runs the script as if Node had been
 * started with it. What it says is what `program-stub.ts` says. It waits without a turn of the event loop, so nothing of
 * the runtime moves before the job is there. The script begins in a tick of its own, so that nothing of this stands below it.
 */
export const NODE_STUB = String.raw`'use strict';
const { closeSync, readSync, unlinkSync, writeSync } = require('node:fs');
const { Module } = require('node:module');
const { resolve } = require('node:path');
for (const name of ${JSON.stringify(NODE_PRELOADED)}) require(name);
unlinkSync(__filename);
delete require.cache[__filename];
writeSync(${LAUNCHER_FDS.job}, 'r');
const parts = [];
for (;;) {
  const part = Buffer.alloc(65536);
  let read;
  try {
    read = readSync(${LAUNCHER_FDS.job}, part);
  } catch (error) {
    if (error.code === 'EINTR') continue;
    process.exit(1);
  }
  if (read === 0) break;
  parts.push(part.subarray(0, read));
}
const [count, folder, names, ...fields] = Buffer.concat(parts).toString().split('\0');
if (names === undefined || fields.length !== Number(count) + 1) process.exit(1);
try {
  process.chdir(folder);
} catch {
  writeSync(${LAUNCHER_FDS.job}, 'c');
  process.exit(1);
}
for (const name of Object.keys(process.env)) delete process.env[name];
for (const field of fields.splice(0, Number(names))) {
  const at = field.indexOf('=');
  process.env[field.slice(0, at)] = field.slice(at + 1);
}
const [, script, ...rest] = fields.slice(0, -1);
process.argv.splice(1, process.argv.length, resolve(script), ...rest);
writeSync(${LAUNCHER_FDS.job}, '+');
closeSync(${LAUNCHER_FDS.job});
process.nextTick(() => Module.runMain());
`;
