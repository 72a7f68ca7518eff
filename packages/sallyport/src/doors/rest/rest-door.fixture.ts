import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Log } from '../../telemetry/log.ts';
import { openTestDoor } from '../mcp-transports/doors.fixture.ts';
import { createLayerDouble, type LayerDouble } from '../tool-layer.fixture.ts';
import type { RestDoor } from './create-rest-door.ts';
import type { RestSettings } from './settings.ts';

/** A door on a free port, on a layer in memory. */
export interface RunningDoor {
  readonly layer: LayerDouble;
  readonly door: RestDoor;
  readonly url: string;
  /** Events that were logged as errors. */
  readonly errors: string[];
  /** Sends a request with a JSON body, as an agent. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Sends bytes over a socket; resolves with all bytes received until the connection ends. */
  raw(bytes: string | Uint8Array): Promise<string>;
}

export async function startRestDoor(
  settings: Partial<RestSettings> = {},
  mount: (door: RestDoor, layer: LayerDouble) => void = () => {},
): Promise<RunningDoor> {
  const layer = createLayerDouble();
  const errors: string[] = [];
  const log: Log = { debug() {}, info() {}, warn() {}, error: (event) => void errors.push(event) };
  const door = openTestDoor(layer, { log, openApi: () => ({ openapi: '3.1.0' }), settings });
  mount(door, layer);
  const url = await door.listen(0);
  return {
    layer,
    door,
    url,
    errors,
    ask: (method, path, body, headers = {}) =>
      fetch(url + path, {
        method,
        headers: {
          authorization: 'Bearer agent',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isBytes(body) ? body : JSON.stringify(body) }),
      }),
    raw: async (bytes) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(bytes);
      return text(socket);
    },
  };
}

function isBytes(body: unknown): body is string {
  return typeof body === 'string' || body instanceof Uint8Array;
}
