// Hot path: every POST goes through here.
import type { IncomingMessage } from 'node:http';
import { ToolLayerError } from '../domain/error/tool-layer-error.ts';

/** How long a client may go on sending a body that was refused, before its connection is cut. In ms. */
const LINGER_MS = 1_000;

/**
 * Reads a request's body whole.
 * @param bytesMax bodies beyond it are refused as soon as that is known: by Content-Length before the first byte
 * @throws ToolLayerError E3810 when larger; E3801 when the connection ended inside the body
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
      reject(refuseRest(request, bytesMax));
      return;
    }
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > bytesMax) {
        request.off('data', onData);
        first = undefined;
        more = undefined;
        reject(refuseRest(request, bytesMax));
      } else if (first === undefined) first = chunk;
      else if (more === undefined) more = [first, chunk];
      else more.push(chunk);
    };
    request.on('data', onData);
    request.on('end', () => resolve(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more, length)));
    request.on('close', () => {
      // It closes after every request too: making an error then would cost more than reading the body.
      if (!request.complete) reject(new ToolLayerError('E3801', 'The request ended early.'));
    });
  });
}

/**
 * The rest of the body is thrown away for a moment, so that the client can read the answer, then the connection is cut.
 */
function refuseRest(request: IncomingMessage, bytesMax: number): ToolLayerError {
  const { socket } = request;
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  const keep = (): void => clearTimeout(cut);
  request.once('end', keep);
  socket.once('close', keep);
  request.resume();
  return new ToolLayerError('E3810', `The request body is larger than ${bytesMax} bytes. Send less in one request.`);
}
