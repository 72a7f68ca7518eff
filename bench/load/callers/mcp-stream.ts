import { get, type IncomingMessage } from 'node:http';
import { openConnection } from '../http-connection.ts';
import type { Target } from '../target.ts';
import { openSession } from './mcp-caller.ts';

/** Opens a session of MCP and its stream of notifications, as clients do that stay connected, and leaves both open. */
export async function openIdleStream({ port, path, headers }: Target): Promise<void> {
  const connection = await openConnection(port);
  const session = await openSession(connection, { port, path, headers });
  connection.close();
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    get(
      { host: '127.0.0.1', port, path, headers: { ...session, accept: 'text/event-stream' }, agent: false },
      resolve,
    ).on('error', reject);
  });
  if (stream.statusCode !== 200) throw new Error(`a stream was answered with ${stream.statusCode}`);
  stream.resume();
}
