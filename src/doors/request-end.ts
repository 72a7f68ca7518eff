// Hot path: every request over HTTP that asks the layer for something.
import type { ServerResponse } from 'node:http';

const ENDS = new WeakMap<ServerResponse, AbortController>();

/**
 * The end of what a request asked for: aborted without a reason when its connection ends before the answer, and with the
 * door's reason when the door stops.
 * @returns the same controller for the same response
 */
export function requestEnd(response: ServerResponse): AbortController {
  const known = ENDS.get(response);
  if (known !== undefined) return known;
  const end = new AbortController();
  ENDS.set(response, end);
  response.once('close', () => {
    if (!response.writableFinished) end.abort();
  });
  return end;
}
