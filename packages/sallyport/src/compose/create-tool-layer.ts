import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { makeFolder } from '@sallyport/std/files/make-folder';
import type { TokenMintRequest, TokenMintResponse } from '../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../api/schemas/invocation.ts';
import type { Caller } from '../domain/principal/principal.ts';
import { createNativeExecutor, type NativeExecutor } from '../executors/native/native-executor.ts';
import type { Hook } from '../hooks/hook.ts';
import type { ToolLayer } from '../operations/tool-layer.ts';
import type { SocketConnection } from '../storage/postgres/postgres-connection.ts';
import type { Log } from '../telemetry/log.ts';
import { createPinoLog } from '../telemetry/pino-log.ts';
import { redactedLog } from '../telemetry/redacted-log.ts';
import type { AssembledLayer } from './assemble.ts';
import { type FunctionTools, functionTools } from './function-tools.ts';
import { circuitTermsFrom } from './parts/from-settings/circuit-terms.ts';
import { ownPlaces } from './parts/from-settings/own-places.ts';
import { redactFields, redactorOf } from './parts/from-settings/redactor.ts';
import { readSettings, settingsFileOf } from './read-settings.ts';
import { localSocketFolder } from './running-layer/local-socket.ts';
import { unknownVariables } from './settings/unknown-variables.ts';
import type { Settings } from './settings.ts';
import { startDatabase } from './start-database.ts';

export type { NativeCallContext, NativeFunction } from '../executors/native/native-executor.ts';
export type { FunctionTools } from './function-tools.ts';

/** What an embedding program may say; everything has a default. */
export interface ToolLayerOptions {
  /** Settings that win over file and environment; see docs/settings.md. */
  readonly settings?: Partial<Settings>;
  /** TOML file to read; `sallyport.toml` in the working folder when it is there. */
  readonly settingsFile?: string;
  /** Default: the process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Asked before and after calls, before the webhooks of the settings (PIPE-14). */
  readonly hooks?: readonly Hook[];
  /** Told how long each stage of each call took, in ms. Costs time; for measurements. */
  readonly onStage?: (stage: string, ms: number) => void;
}

/** The layer in this very process. */
export interface EmbeddedToolLayer extends ToolLayer, FunctionTools, AsyncDisposable {
  readonly settings: Settings;
  readonly log: Log;
  /** How to reach the embedded database, for its owner; absent with a database of the user's own. */
  readonly embeddedDatabase?: SocketConnection;
  /** `ask('tools.invoke')` as this program; needs a capability token like every call. */
  invoke(request: ToolInvokeRequest, caller?: Partial<Caller>): Promise<ToolInvokeResponse>;
  /** What the MCP gateways of `serve` and `sallyport mcp` stand on beside the operations; not for programs. */
  readonly forGateway: Pick<AssembledLayer, 'confirmations' | 'signalOf' | 'stateKey' | 'upstreamQuestions'>;
  /** What servers need beside the operations; not for programs. */
  readonly forServer: Pick<AssembledLayer, 'drain' | 'warnOfSandboxes'>;
  /** Signs a capability token. */
  mintToken(request: TokenMintRequest): Promise<TokenMintResponse>;
  /** Ends accepting calls, waits for those that run, and closes everything (OPS-03). Idempotent. */
  close(): Promise<void>;
}

/** Who asks when the embedding program asks for itself. */
export const LOCAL_CALLER: Caller = { door: 'library', local: true };

/**
 * Starts the layer: settings, database, registry, upstreams and all; ready to be asked when the promise resolves.
 * @throws ToolLayerError E3801 and E3403 for faulty settings, E3812 for the database, E3900 for keys, E3214 for policies;
 * each says what to change
 */
export async function createToolLayer(options: ToolLayerOptions = {}): Promise<EmbeddedToolLayer> {
  const { environment = process.env, clock = systemClock } = options;
  const sources = {
    environment,
    ...(options.settingsFile === undefined ? {} : { file: options.settingsFile }),
    ...(options.settings === undefined ? {} : { given: options.settings }),
  };
  const given = readSettings(sources);
  // Before anything is started for them.
  circuitTermsFrom(given);
  const settings = { ...given, data_folder: await openDataFolder(given['data_folder']) };
  const redactor = redactorOf(settings);
  const fields = redactFields(redactor);
  const log =
    options.log === undefined ? createPinoLog(settings['log.level'], fields) : redactedLog(options.log, fields);
  const unknown = unknownVariables(environment);
  if (unknown.length > 0) log.warn('unknown-variables', { variables: unknown });
  const { server, waiting, socketFolders } = startDatabase(settings, log);
  // Most of the code is loaded while the database starts: that takes other processes, and longer.
  await waiting;
  const [{ assemble }, { createOperations }, { followUpstreams }] = await Promise.all([
    import('./assemble.ts'),
    import('../operations/create-operations.ts'),
    import('../operations/follow-upstreams.ts'),
  ]);
  const native = createNativeExecutor();
  const { onStage, hooks } = options;
  const assembled = await assemble({
    settings,
    closed: ownPlaces(settings, settingsFileOf(sources), [
      localSocketFolder(settings['data_folder']),
      ...socketFolders,
    ]),
    environment,
    clock,
    log,
    native,
    server,
    redactor,
    ...(hooks === undefined ? {} : { hooks }),
    ...(onStage === undefined ? {} : { onStage }),
  });
  const stopFollowing = followUpstreams(assembled.parts);
  const close = async (): Promise<void> => {
    stopFollowing();
    await assembled.close();
  };
  return embedded(createOperations(assembled.parts), { ...assembled, close }, native, settings, log);
}

function embedded(
  layer: ToolLayer,
  assembled: AssembledLayer,
  native: NativeExecutor,
  settings: Settings,
  log: Log,
): EmbeddedToolLayer {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= assembled.close();
    return closing;
  };
  return {
    ...layer,
    settings,
    log,
    ...(assembled.embeddedDatabase === undefined ? {} : { embeddedDatabase: assembled.embeddedDatabase }),
    forGateway: assembled,
    forServer: assembled,
    invoke: (request, caller) => layer.ask('tools.invoke', request, { door: 'library', ...caller }),
    ...functionTools(layer, native, LOCAL_CALLER, () => assembled.parts.callWorkers?.lookAgain()),
    mintToken: (request) => layer.ask('tokens.mint', request, LOCAL_CALLER),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function openDataFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    await makeFolder(path);
    // What sandboxes may not see is told by its real path.
    return await realpath(path);
  } catch (cause) {
    throw new ToolLayerError(
      'E3812',
      `The data folder ${path} cannot be made or used. Choose another with --data-folder.`,
      {
        cause,
      },
    );
  }
}
