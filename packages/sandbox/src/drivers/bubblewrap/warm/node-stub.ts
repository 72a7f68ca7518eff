import { LAUNCHER_FDS } from '../process/launcher.ts';

/** Where a waiting Node finds its program, which is gone before it waits. */
export const NODE_STUB_AT = '/tmp/.waiting.cjs';

/** Parts of Node that nearly every script needs, loaded while nobody waits for them. A script cannot see that they are. */
const NODE_PRELOADED = ['net', 'tty', 'stream', 'stream/promises', 'fs/promises', 'url', 'util'];

/**
 * Program for Node that waits until it gets a job, `node script arguments`, and then runs the script as if Node had been
 * started with it. What it says is what `program-stub.ts` says, the first word by a console over a socket: what a script
 * writes first would take some two ms, if nothing had ever been written. It waits without a turn of the event loop, so
 * nothing of the runtime moves before the job is there; for that the socket is set back to blocking. It waits in a tick, so
 * that this program has ended, which takes Node a while, before the job comes, and nothing of it stands below the script.
 */
export const NODE_STUB = String.raw`'use strict';
const { Console } = require('node:console');
const { readSync, unlinkSync, writeSync } = require('node:fs');
const { Module } = require('node:module');
const { Socket } = require('node:net');
const { resolve } = require('node:path');
for (const name of ${JSON.stringify(NODE_PRELOADED)}) require(name);
unlinkSync(__filename);
delete require.cache[__filename];
const waiting = new Socket({ fd: ${LAUNCHER_FDS.job}, readable: false });
new Console(waiting).log('r');
waiting._handle.setBlocking(true);
const isWhole = (text) => {
  let at = text.indexOf('\0');
  for (let left = at < 0 ? 0 : Number(text.slice(0, at)) + 2; at >= 0 && left > 0; left -= 1) at = text.indexOf('\0', at + 1);
  return at >= 0;
};
const part = Buffer.allocUnsafeSlow(65536);
process.nextTick(() => {
  let job = '';
  while (!isWhole(job)) {
    let read;
    try {
      read = readSync(${LAUNCHER_FDS.job}, part);
    } catch (error) {
      if (error.code === 'EINTR') continue;
      process.exit(1);
    }
    if (read === 0) process.exit(1);
    job += part.latin1Slice(0, read);
  }
  const [count, folder, names, ...fields] = Buffer.from(job, 'latin1').toString().split('\0');
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
  waiting._handle.close();
  Module.runMain();
});
`;
