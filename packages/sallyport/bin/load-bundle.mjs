// Loads the parts of a bundle, with what V8 has compiled of them before. Node's own compile cache holds what is compiled when
// a module is loaded: the functions that a start then calls are compiled anew by each start, a quarter of its time.
// Plain JavaScript, because loading the part of Node that reads TypeScript takes 60 ms, and nothing imported by name that an
// old Node does not have, so that it gets as far as saying that it is old.
//
// node packages/sallyport/bin/load-bundle.mjs run FILE [ARGUMENTS]: runs a program of a bundle
// node packages/sallyport/bin/load-bundle.mjs load FOLDER: compiles a bundle, so that its first start finds that done

import { Buffer } from 'node:buffer';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import zlib from 'node:zlib';

/** Where compiled code lies in a bundle's folder. V8 refuses what another version or other flags have made. */
const COMPILED = join('compiled', String(cachedDataVersionTag()));
/** What loading a part has compiled, and what a program that served has; the better one first. */
const KINDS = ['used', 'loaded'];
/** A CRC-32 in front of the compiled code; what follows it stays aligned as V8 wants it. */
const SUM_BYTES = 8;

/**
 * Opens the folder of a bundle. `load` gives the exports of a part, and runs it the first time; `read` does not run it.
 * `keep` writes what V8 has compiled of so many of those for which there is nothing as good yet, and says whether more are left.
 */
export function openBundle(folder) {
  const parts = new Map();
  const read = (name) => {
    const part = { exports: {}, ...compiled(folder, name) };
    parts.set(name, part);
    return part;
  };
  const load = (name) => {
    const known = parts.get(name);
    if (known !== undefined) return known.exports;
    const path = join(folder, name);
    const part = read(name);
    try {
      part.script.runInThisContext()(
        part.exports,
        requireFor(path, load),
        (specifier) => import(specifier),
        path,
        folder,
      );
    } catch (thrown) {
      parts.delete(name);
      throw thrown;
    }
    return part.exports;
  };
  const keep = (kind, atMost = parts.size) => {
    const good = KINDS.slice(0, KINDS.indexOf(kind) + 1);
    const worse = [...parts].filter(([, part]) => !good.includes(part.kind));
    for (const [name, part] of worse.slice(0, atMost)) {
      part.kind = kind;
      put(join(folder, COMPILED), `${name}.${kind}`, withSum(part.script.createCachedData()));
    }
    return worse.length > atMost;
  };
  return { load, read, keep };
}

/** A part as a script, whose value is a function of what a CommonJS module is given and of `import`. */
function compiled(folder, name) {
  const source = readFileSync(join(folder, name), 'utf8');
  for (const kind of KINDS) {
    const cachedData = withoutSum(contentOf(join(folder, COMPILED, `${name}.${kind}`)));
    if (cachedData === undefined) continue;
    const script = new Script(source, { filename: join(folder, name), cachedData });
    if (!script.cachedDataRejected) return { script, kind };
  }
  return { script: new Script(source, { filename: join(folder, name) }), kind: undefined };
}

function requireFor(path, load) {
  const native = createRequire(path);
  return Object.assign((id) => (id.startsWith('./') ? load(basename(id)) : native(id)), native);
}

function contentOf(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** V8 looks at the head of what it is given, and trusts the rest: the sum finds what a disk has made of it. */
function withSum(data) {
  const sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32LE(zlib.crc32(data));
  return Buffer.concat([sum, data]);
}

function withoutSum(content) {
  if (content === undefined || content.length < SUM_BYTES) return undefined;
  const data = content.subarray(SUM_BYTES);
  return content.readUInt32LE() === zlib.crc32(data) ? data : undefined;
}

/** Appears whole or not at all; a folder that cannot be written to costs time at the next start, and nothing else. */
function put(place, name, content) {
  try {
    const draft = join(place, `${name}.${process.pid}.new`);
    mkdirSync(place, { recursive: true });
    writeFileSync(draft, content);
    renameSync(draft, join(place, name));
  } catch {}
}

if (import.meta.main) {
  const [node, , order, path = '', ...args] = process.argv;
  if (order === 'run') {
    process.argv = [node, path, ...args];
    openBundle(dirname(path)).load(basename(path));
  } else {
    const { load, read, keep } = openBundle(path);
    const { programs, parts } = JSON.parse(readFileSync(join(path, 'bundle.json'), 'utf8'));
    for (const name of parts) {
      try {
        load(name);
      } catch {
        // A part that cannot be loaded says so to who needs it.
        read(name);
      }
    }
    Object.values(programs).forEach(read);
    keep('loaded');
  }
}
