import { request } from 'node:http';
import { MICROVM_BOUNDS } from '../settings.ts';

/** A refusal of Firecracker, or no answer. */
export class FirecrackerRefusal extends Error {
  override readonly name = 'FirecrackerRefusal';
}

/**
 * One change through Firecracker's API. @throws FirecrackerRefusal with its message when refused; the system's error
 */
export type FirecrackerApi = (method: 'PUT' | 'PATCH', path: string, body: unknown) => Promise<void>;

/** @param socketPath of the API; each change is a request of its own */
export function firecrackerApi(socketPath: string): FirecrackerApi {
  return async (method, path, body) => {
    const { status, text } = await send(socketPath, method, path, JSON.stringify(body));
    if (status >= 200 && status < 300) return;
    throw new FirecrackerRefusal(`Firecracker answers ${status} to ${method} ${path}: ${wordsIn(text)}`);
  };
}

function send(
  socketPath: string,
  method: string,
  path: string,
  body: string,
): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const signal = AbortSignal.timeout(MICROVM_BOUNDS.answerTimeoutMs);
  const sent = request({ socketPath, method, path, headers, signal, agent: false }, (answer) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (part: string) => {
      text += part;
      if (text.length > MICROVM_BOUNDS.answerBytesMax) answer.destroy(new FirecrackerRefusal('an answer without end'));
    });
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    answer.on('error', reject);
    answer.on('close', () => reject(new FirecrackerRefusal(`Firecracker broke off its answer to ${method} ${path}`)));
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

function wordsIn(text: string): string {
  try {
    const { fault_message: fault } = JSON.parse(text) as { fault_message?: unknown };
    return typeof fault === 'string' ? fault : text;
  } catch {
    return text.slice(0, MICROVM_BOUNDS.complaintBytesMax);
  }
}
