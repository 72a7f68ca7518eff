import type { FetchLike } from '@modelcontextprotocol/client';
import { isObject } from '../../../domain/shape/is-object.ts';
import { readWireJson } from '../../wire-json.ts';

/**
 * Sends requests about tasks with the header `Mcp-Name` of 2026-07-28. The library keeps this header to itself, and does
 * not know that it names the task in such requests.
 */
export function withTaskName(carry: FetchLike): FetchLike {
  return (url, init) => {
    const headers = new Headers(init?.headers);
    // Fast path: a request about something else, or of an era without these headers.
    if (headers.get('mcp-method')?.startsWith('tasks/') !== true) return carry(url, init);
    const taskId = taskIn(init?.body);
    if (taskId !== undefined) headers.set('mcp-name', encoded(taskId));
    return carry(url, { ...init, headers });
  };
}

function taskIn(body: unknown): string | undefined {
  const read = typeof body === 'string' ? readWireJson(Buffer.from(body)) : undefined;
  const params = read?.ok === true && isObject(read.value) ? read.value['params'] : undefined;
  const taskId = isObject(params) ? params['taskId'] : undefined;
  return typeof taskId === 'string' ? taskId : undefined;
}

/** Values that are not plain ASCII are Base64 (2026-07-28, value encoding). */
function encoded(text: string): string {
  const isPlain = /^[\x21-\x7e]+$/.test(text) && !text.startsWith('=?base64?');
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
