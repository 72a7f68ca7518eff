import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  type Server,
  type Settings,
  serve,
  silentLog,
  type ToolLayerOptions,
} from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';
import { temporaryDataFolder } from '../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';

/** A layer with open doors, on a data folder that holds nothing but an empty database. */
export interface OpenLayer extends AsyncDisposable {
  readonly layer: EmbeddedToolLayer;
  readonly server: Server;
  readonly folder: string;
  /** A token that allows every tool. */
  readonly token: string;
}

/** Opens a layer with nothing replaced: real PostgreSQL, sandboxes and sockets. */
export async function openLayer(
  settings: Partial<Settings> = {},
  environment: Readonly<Record<string, string>> = {},
  port = 0,
  more: Pick<ToolLayerOptions, 'resources' | 'prompts' | 'outputFilters'> = {},
): Promise<OpenLayer> {
  const folder = await temporaryDataFolder('sallyport-e2e-');
  const layer = await createToolLayer({
    settings: { data_folder: folder, 'agent.mounts': ['.:ro', `${tmpdir()}:rw`], ...settings },
    log: silentLog,
    environment,
    ...more,
  });
  const server = await serve(layer, { port });
  const { capability_token: token } = await layer.mintToken({});
  return {
    layer,
    server,
    folder,
    token,
    async [Symbol.asyncDispose]() {
      await server.close();
      await layer.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A native tool that takes `n`. */
export const DOUBLE: ToolManifest = {
  tool_id: 'double',
  tool_name: 'Double',
  version: '1.0.0',
  description: 'Doubles a number.',
  side_effect_policy: 'pure',
  parameters_schema: {
    type: 'object',
    properties: { n: { type: 'number', description: 'The number.' } },
    required: ['n'],
    additionalProperties: false,
  },
  executor: { kind: 'native' },
};

/** The function of the tool `double`. */
export const double = ({ n }: Readonly<Record<string, unknown>>): { value: number } => ({ value: Number(n) * 2 });

/** POSTs a body to the layer's REST door. */
export async function post(
  { server, token }: Pick<OpenLayer, 'server' | 'token'>,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
