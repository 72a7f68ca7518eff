import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An npm registry on loopback that serves the packages published by the test. */
export interface NpmRegistry extends AsyncDisposable {
  readonly url: string;
  /** Paths of the requests that the registry received. */
  readonly asked: string[];
  /** Publishes a package; the last published version is the newest. */
  publish(name: string, version: string, files: Readonly<Record<string, string>>, manifest?: object): void;
  /** From now on serves bytes for this version that do not match its integrity value. */
  corrupt(name: string, version: string): void;
}

interface Published {
  readonly manifest: Record<string, unknown>;
  tarball: Buffer;
}

export async function openNpmRegistry(): Promise<NpmRegistry> {
  const packages = new Map<string, Map<string, Published>>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    asked.push(path);
    const [, name = path, version] = /^(.+)\/-\/(.+)\.tgz$/.exec(path) ?? [];
    const versions = packages.get(name);
    if (versions === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    if (version !== undefined) {
      response.end(versions.get(version)?.tarball);
      return;
    }
    const manifests = Object.fromEntries([...versions].map(([number, { manifest }]) => [number, manifest]));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: [...versions.keys()].at(-1) }, versions: manifests }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    asked,
    publish(name, version, files, manifest = {}) {
      const whole = { name, version, ...manifest };
      const tarball = pack({ ...files, 'package.json': JSON.stringify(whole) });
      const dist = {
        tarball: `${url}${name}/-/${version}.tgz`,
        integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
      };
      const versions = packages.get(name) ?? new Map<string, Published>();
      packages.set(name, versions.set(version, { manifest: { ...whole, dist }, tarball }));
    },
    corrupt(name, version) {
      const published = packages.get(name)?.get(version);
      if (published !== undefined) published.tarball = pack({ 'package.json': JSON.stringify({ name, version }) });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pack(files: Readonly<Record<string, string>>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'npm-pack-'));
  try {
    mkdirSync(join(folder, 'package'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'package', name), text);
    execFileSync('tar', ['-czf', 'package.tgz', 'package'], { cwd: folder });
    return readFileSync(join(folder, 'package.tgz'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An MCP server over stdio with one tool, which answers with the text of the server's dependency. */
export const SERVER_FILES = {
  'server.mjs': `#!/usr/bin/env node
import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';
import { text } from 'its-part';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const touched = () => { try { writeFileSync(new URL('./mine.txt', import.meta.url), 'x'); return 'written'; } catch { return 'read-only'; } };
const reached = async () => { try { await fetch(process.env.TRY ?? 'http://127.0.0.1:9/'); return 'reached'; } catch { return 'offline'; } };
process.stderr.write('started with ' + (process.env.API_TOKEN ?? 'nothing') + '\\n');
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'packed', version: '1.0.0' } } });
  else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'say', description: 'Says a text.', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') {
    process.stderr.write('said ' + text + '\\n');
    send({ id, result: { content: [{ type: 'text', text: [text, ...process.argv.slice(2), touched(), await reached()].join(' ') }] } });
  } else send({ id, error: { code: -32601, message: 'none' } });
});
`,
} as const;

/** The same server as one file without dependencies. */
export const LONE_SERVER = SERVER_FILES['server.mjs'].replace(
  "import { text } from 'its-part';",
  "const text = 'alone';",
);

/** Publishes a server that has a dependency, and an install script that must not run. */
export function publishServer(registry: NpmRegistry, name: string, version: string): void {
  registry.publish('its-part', '2.0.0', { 'index.js': "exports.text = 'part 2.0.0';" });
  registry.publish(
    name,
    version,
    { ...SERVER_FILES, 'install.cjs': "require('node:fs').writeFileSync('ran.txt', '')" },
    {
      bin: { 'packed-server': 'server.mjs' },
      dependencies: { 'its-part': '^2.0.0' },
      scripts: { install: 'node install.cjs' },
    },
  );
}
