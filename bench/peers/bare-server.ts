// The floor: what Node's own HTTP server costs with a JSON request and a JSON answer, and nothing else.
import { createServer } from 'node:http';
import { readBody, tellPort } from './own-server.ts';

interface Request {
  readonly arguments: { readonly text: string };
}

const server = createServer(async (request, response) => {
  const { arguments: given } = JSON.parse(await readBody(request)) as Request;
  const body = JSON.stringify({ content: [{ type: 'text', text: given.text }] });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
tellPort(server);
