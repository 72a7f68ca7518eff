import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mayHide, type NewMachine, newMachine } from './new-machine.fixture.ts';

const isAsked = process.env['SALLYPORT_PUBLISHED'] === '1' && mayHide;
const MINUTES = 600_000;
const SKILL = 'examples/your-tools/skills/minutes';

let machine: NewMachine;
beforeAll(async () => {
  if (isAsked) machine = await newMachine();
});
afterAll(() => machine?.[Symbol.asyncDispose]());

/** A port that no other layer is likely to use. */
const port = 7_900 + (process.pid % 90);

test.skipIf(!isAsked)(
  'API-05 OPS-01 the first ten minutes: a fresh clone is installed, started, called, filled with tools, connected, listed and verified',
  async () => {
    await machine.sh('npm ci');
    const before = await readdir(machine.clone);
    expect(await machine.failing('npx sallyport tools list', 3)).toContain('sallyport serve');
    expect(await readdir(machine.clone)).toEqual(before);

    const layer = await machine.start(`npm start -- --port ${port}`, /npx sallyport connect[\s\S]*\n/);
    const [, curl = ''] = /Try it:\n((?:.*\\\n)*.*\n)/.exec(layer.said) ?? [];
    expect(JSON.parse(await machine.sh(curl))).toMatchObject({ status: 'success', result: { sum: 5 } });

    // A new user's files: a desktop configuration with two published servers and one that does not exist, and a skill.
    const server = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', machine.clone] };
    const memory = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] };
    const gone = { command: 'npx', args: ['-y', 'sallyport-there-is-no-such-package'] };
    await writeFile(
      join(machine.home, 'claude_desktop_config.json'),
      JSON.stringify({ mcpServers: { server, memory, gone } }),
    );
    const plan = await machine.sh('npx sallyport upstreams import ../claude_desktop_config.json --dry-run');
    for (const name of ['server', 'memory', 'gone']) expect(plan).toContain(name);
    await machine.failing('npx sallyport upstreams import ../claude_desktop_config.json --yes', 1);
    const upstreams = await machine.sh('npx sallyport upstreams list');
    expect(upstreams).toMatch(/memory +ready[\s\S]*server +ready/);
    await machine.sh(`npx sallyport tools import skill ${SKILL}`);
    expect(await machine.failing('npx sallyport invoke ad a=2 b=3', 1)).toContain('add');
    expect(await machine.sh('npx sallyport invoke add a=2 b=3')).toContain('5');

    // Starts the command that `connect` printed, in another folder, as a client would.
    const { config } = JSON.parse(await machine.sh('npx sallyport connect claude-desktop --json 2>/dev/null'));
    const { command, args, env } = config.mcpServers.sallyport;
    const [program = '', ...words] = machine.wrapper;
    const client = new Client({ name: 'desktop', version: '1.0.0' });
    const transport = {
      command: program,
      args: [...words, command, ...args],
      env: { ...machine.env, ...env },
      cwd: '/',
    };
    await client.connect(new StdioClientTransport(transport));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['add', 'memory__read_graph']));
    const message = '<b>writes & reads</b>; rm -rf "$HOME"';
    const echoed = await client.callTool({ name: 'everything__echo', arguments: { message } });
    expect(echoed.content).toMatchObject([{ text: `Echo: ${message}` }]);
    const path = join(machine.clone, 'README.md');
    const readme = await client.callTool({ name: 'server__read_text_file', arguments: { path } });
    expect(readme.structuredContent).toEqual({ content: await readFile(path, 'utf8') });
    await client.close();

    const calls = await machine.sh('npx sallyport calls list --tool everything__echo');
    expect(calls).toContain('COMPLETED');
    expect(await machine.sh('npx sallyport audit verify')).toContain('whole');
    await machine.sh('npx sallyport doctor');
    await layer.stop();
  },
  MINUTES,
);
