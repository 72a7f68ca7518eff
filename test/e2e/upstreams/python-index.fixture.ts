import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A Python package index on loopback that serves one wheel. */
export interface PythonIndex extends AsyncDisposable {
  readonly url: string;
  readonly asked: string[];
}

const SERVER = `
import json, sys
def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "snake", "version": "1.0.0"}},
            "tools/list": {"tools": [{"name": "say", "description": "Says a text.", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "from a wheel " + " ".join(sys.argv[1:])}]},
        }
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in results:
            answer["result"] = results[message["method"]]
        else:
            answer["error"] = {"code": -32601, "message": "none"}
        print(json.dumps(answer), flush=True)
`;

/** Python program that makes a wheel with the module zipfile. */
const MAKE_WHEEL = `
import sys, zipfile, json
files = json.load(sys.stdin)
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)
`;

export async function openPythonIndex(): Promise<PythonIndex> {
  const folder = mkdtempSync(join(tmpdir(), 'wheel-'));
  const file = 'snake_server-1.2.0-py3-none-any.whl';
  const about = 'snake_server-1.2.0.dist-info';
  const files = {
    'snake_server.py': SERVER,
    [`${about}/METADATA`]: 'Metadata-Version: 2.1\nName: snake-server\nVersion: 1.2.0\n',
    [`${about}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${about}/entry_points.txt`]: '[console_scripts]\nsnake-server = snake_server:main\n',
    [`${about}/RECORD`]: '',
  };
  execFileSync('python3', ['-c', MAKE_WHEEL, join(folder, file)], { input: JSON.stringify(files) });
  const wheel = readFileSync(join(folder, file));
  rmSync(folder, { recursive: true, force: true });
  const sha256 = createHash('sha256').update(wheel).digest('hex');
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/simple/snake-server/') {
      response.setHeader('content-type', 'text/html');
      response.end(`<!DOCTYPE html><a href="/files/${file}#sha256=${sha256}">${file}</a>`);
    } else if (request.url === `/files/${file}`) response.end(wheel);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
