import { expect, it } from 'vitest';
import { startMcpServer } from './mcp-http.fixture.ts';

it('API-03 a large message of a sender without a good credential is refused before it is read', async () => {
  const server = await startMcpServer();
  try {
    const params = { text: 'x'.repeat(100_000) };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params };
    const stolen = await server.post(message, { authorization: 'Bearer stolen' });
    expect(stolen.status).toBe(401);
    expect(stolen.headers.get('www-authenticate')).toContain('invalid_token');
    expect(await stolen.json()).toMatchObject({ id: null });
    const known = await server.post(message, { authorization: 'Bearer agent' });
    expect(known.status).not.toBe(401);
  } finally {
    await server.close();
  }
});
