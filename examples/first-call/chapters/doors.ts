import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { CommandResult } from '../sallyport-process.ts';
import { invokeOverRest, type Story } from '../story.ts';

/** What the chapter gets. */
export interface DoorsParts {
  readonly story: Story;
  readonly sallyport: (...args: string[]) => Promise<CommandResult>;
  readonly url: string;
  readonly notes: string;
  readonly booksUrl: string;
}

/** The same tools through REST, the official MCP client, and the command line. */
export async function doorsChapter(parts: DoorsParts): Promise<void> {
  const { story, sallyport, notes, booksUrl } = parts;
  const port = new URL(booksUrl).port;
  const minted = await sallyport(
    'token',
    'mint',
    '--path',
    notes,
    '--host',
    '127.0.0.1',
    '--port',
    port,
    '--secret',
    'BOOKS_SHELF_KEY',
  );
  const token = minted.stdout.trim();
  story.step('REST');
  await overRest(parts, token);
  story.step('The official MCP client');
  await overMcp(parts, token);
  story.step('The command line');
  await overCommandLine(parts);
}

async function overRest({ story, url, notes }: DoorsParts, token: string): Promise<void> {
  const book = await invokeOverRest(url, token, { tool_id: 'books__getBook', parameters: { id: '1' } });
  story.holds('a text is converted to the integer that the operation wants, and the key is put in by the layer', () => {
    assert.equal(book.status, 200, JSON.stringify(book.body));
    assert.deepEqual((book.body.result as { body: unknown }).body, { id: 1, title: 'The Sea', related: [] });
  });
  const note = await invokeOverRest(url, token, { tool_id: 'read-note', parameters: { path: `${notes}/hello.txt` } });
  story.holds('a sandboxed tool reads what it was granted', () => {
    assert.equal(note.body.result, 'Hello from a note.\n', JSON.stringify(note.body));
  });
  const key = { execution_options: { idempotency_key: 'one book' } };
  const add = { tool_id: 'books__addBook', parameters: { body: { title: 'The Shore' } }, ...key };
  const first = await invokeOverRest(url, token, add);
  const again = await invokeOverRest(url, token, add);
  story.holds('a repeated write with one idempotency key happens once', () => {
    assert.equal(first.body.status, 'success', JSON.stringify(first.body));
    assert.deepEqual(again.body.result, first.body.result);
  });
}

async function overMcp({ story, url, notes }: DoorsParts, token: string): Promise<void> {
  const client = new Client({ name: 'first-call', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  try {
    const { tools } = await client.listTools();
    story.holds('tools of every kind are listed under one name each', () => {
      const names = tools.map(({ name }) => name);
      for (const name of ['everything__echo', 'files__read_text_file', 'books__getBook', 'sleep'])
        assert.ok(names.includes(name), name);
      assert.equal(new Set(names).size, names.length);
    });
    const echo = await client.callTool({ name: 'everything__echo', arguments: { message: 'hello' } });
    story.holds('server-everything answers through its sandbox', () => {
      assert.deepEqual(echo.content, [{ type: 'text', text: 'Echo: hello' }]);
    });
    const path = `${notes}/written.txt`;
    await client.callTool({ name: 'files__write_file', arguments: { path, content: 'by an agent' } });
    const read = await client.callTool({ name: 'files__read_text_file', arguments: { path } });
    story.holds('server-filesystem writes and reads where it may', () => {
      assert.match(JSON.stringify(read.content), /by an agent/);
    });
    const outside = await client.callTool({ name: 'files__read_text_file', arguments: { path: '/etc/hostname' } });
    story.holds('and nowhere else', () => assert.equal(outside.isError, true));
    const wrong = await client.callTool({ name: 'books__getBook', arguments: { id: 'one' } });
    story.holds('the model reads what to mend', () => {
      assert.equal(wrong.isError, true);
      assert.match(JSON.stringify(wrong.content), /\[tool_error\].*category: (InvalidParameters|TypeMismatch)/);
    });
  } finally {
    await client.close();
  }
}

async function overCommandLine({ story, sallyport }: DoorsParts): Promise<void> {
  const invoked = await sallyport('invoke', 'everything__get-sum', '{"a":2,"b":3}', '--json');
  story.holds('invoke prints the answer and ends with 0', () => {
    assert.equal(invoked.code, 0, invoked.stderr);
    assert.match(invoked.stdout, /"status": ?"success"/);
  });
  const failed = await sallyport('invoke', 'everything__get-sum', '{"a":"two"}');
  story.holds('a refused call ends with 1 and names each fault', () => {
    assert.equal(failed.code, 1, failed.stdout + failed.stderr);
    assert.match(failed.stderr + failed.stdout, /E3509[\s\S]*\/a[\s\S]*\/b|E3509[\s\S]*\/b[\s\S]*\/a/);
  });
  const listed = await sallyport('tools', 'list', '--json');
  story.holds('tools list knows them all', () => assert.match(listed.stdout, /files__read_text_file/));
}
