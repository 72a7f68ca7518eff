import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { makeFolder } from '@sallyport/std/files/make-folder';
import { ownCopy } from '@sallyport/std/json/own-copy';
import type { TokenMintRequest, TokenMintResponse } from '../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../api/schemas/invocation.ts';
import type { SideEffectListener } from '../audit/relay/side-effect-listener.ts';
import type { Caller } from '../domain/principal/principal.ts';
import { createNativeExecutor, type NativeExecutor } from '../executors/native/native-executor.ts';
import { createProgramOffers, type ProgramOffers } from '../executors/native/program-offers.ts';
import type { Hook } from '../hooks/hook.ts';
import type { OutputFilter } from '../model-facing/output-filter.ts';
import type { ToolLayer } from '../operations/tool-layer.ts';
import type { SocketConnection } from '../storage/postgres/postgres-connection.ts';
import type { Log } from '../telemetry/log.ts';
import { createPinoLog } from '../telemetry/pino-log.ts';
import { redactedLog } from '../telemetry/redacted-log.ts';
import type { AssembledLayer } from './assemble.ts';
import { circuitTermsFrom } from './parts/from-settings/circuit-terms.ts';
import { ownPlaces } from './parts/from-settings/own-places.ts';
import { redactFields, redactorOf } from './parts/from-settings/redactor.ts';
import { type FunctionTools, functionTools } from './program/function-tools.ts';
import {
  type OfferTools,
  offerTools,
  type ProgramPrompt,
  type ProgramResource,
  type ProgramTemplate,
} from './program/offer-tools.ts';
import { readSettings, settingsFileOf } from './read-settings.ts';
import { localSocketFolder } from './running-layer/local-socket.ts';
import { withDevelopmentServer } from './settings/development-settings.ts';
import { unknownVariables } from './settings/unknown-variables.ts';
import type { Settings } from './settings.ts';
import { startDatabase } from './start-database.ts';

export type { SideEffectListener } from '../audit/relay/side-effect-listener.ts';
export type {
  CallClient,
  ClientRoot,
  Completion,
  Elicitation,
  ElicitationAnswer,
} from '../executors/native/client-of-call.ts';
export type { NativeCallContext, NativeFunction } from '../executors/native/native-executor.ts';
export type { FunctionTools } from './program/function-tools.ts';

/** Options of an embedding program; all have defaults. */
export interface ToolLayerOptions {
  /** Settings that override file and environment; see docs/settings.md. */
  readonly settings?: Partial<Settings>;
  /** TOML file to read; default: `sallyport.toml` in the working folder, if it exists. */
  readonly settingsFile?: string;
  /** Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Resources that MCP clients see, as `registerResource` takes them. */
  readonly resources?: readonly (ProgramResource | ProgramTemplate)[];
  /** Prompts that MCP clients see, as `registerPrompt` takes them. */
  readonly prompts?: readonly ProgramPrompt[];
  /** Asked before and after calls, before the webhooks of the settings (PIPE-14). */
  readonly hooks?: readonly Hook[];
  /** Shorten results, before the output filters of the settings (MOD-06). */
  readonly outputFilters?: readonly OutputFilter[];
  /** Notified of the side effects of the calls that run here, as they happen (VIS-09). */
  readonly onSideEffect?: SideEffectListener;
  /** Called with the duration of each stage of each call, in ms. Costs time; for measurements. */
  readonly onStage?: (stage: string, ms: number) => void;
  /** Whether reference servers whose setting is `auto` are upstreams, as where the command line starts the layer. */
  readonly withReferenceServers?: boolean;
}

/** The layer in this process. */
export interface EmbeddedToolLayer extends ToolLayer, FunctionTools, OfferTools, AsyncDisposable {
  readonly settings: Settings;
  readonly log: Log;
  /** Connection to the embedded database, for its owner; absent when the user's own database is used. */
  readonly embeddedDatabase?: SocketConnection;
  /** `ask('tools.invoke')` as the embedding program; needs a capability token like every call. */
  invoke(request: ToolInvokeRequest, caller?: Partial<Caller>): Promise<ToolInvokeResponse>;
  /** What the MCP gateways of `serve` and `sallyport mcp` need besides the operations; not for programs. */
  readonly forGateway: Pick<
    AssembledLayer,
    'confirmations' | 'callQuestions' | 'signalOf' | 'stateKey' | 'resourceUpdates' | 'upstreamLogs' | 'clientQuestions'
  >;
  /** What servers need besides the operations; not for programs. */
  readonly forServer: Pick<AssembledLayer, 'drain' | 'warnOfSandboxes' | 'proofNonce'>;
  /** Signs a capability token. */
  mintToken(request: TokenMintRequest): Promise<TokenMintResponse>;
  /** Stops accepting calls, waits for running ones, and closes everything (OPS-03). Idempotent. */
  close(): Promise<void>;
}

/** The caller of the embedding program's own requests. */
export const LOCAL_CALLER: Caller = { door: 'library', local: true };

/**
 * Starts the layer with settings, database, registry and upstreams; it accepts requests when the promise resolves.
 * @throws ToolLayerError E3801 and E3403 for faulty settings, E3812 for the database, E3900 for keys, E3214 for
 *   policies; each says what to change
 */
export async function createToolLayer(options: ToolLayerOptions = {}): Promise<EmbeddedToolLayer> {
  const { environment = process.env, clock = systemClock } = options;
  const sources = {
    environment,
    ...(options.settingsFile === undefined ? {} : { file: options.settingsFile }),
    ...(options.settings === undefined ? {} : { given: options.settings }),
  };
  const given = withDevelopmentServer(readSettings(sources));
  // Checked before anything is started.
  circuitTermsFrom(given);
  const settings = { ...given, data_folder: await openDataFolder(given['data_folder']) };
  const redactor = redactorOf(settings);
  const fields = redactFields(redactor);
  const log =
    options.log === undefined ? createPinoLog(settings['log.level'], fields) : redactedLog(options.log, fields);
  const unknown = unknownVariables(environment);
  if (unknown.length > 0) log.warn('unknown-variables', { variables: unknown });
  const { server, waiting, socketFolders } = startDatabase(settings, log);
  // Most of the code is loaded while the database starts, which happens in other processes and takes longer.
  await waiting;
  const [{ assemble }, { createOperations }, { followUpstreams }, { addReferenceServer }] = await Promise.all([
    import('./assemble.ts'),
    import('../operations/create-operations.ts'),
    import('../operations/follow-upstreams.ts'),
    import('./parts/reference-servers/add-reference-server.ts'),
  ]);
  const native = createNativeExecutor();
  const programOffers = createProgramOffers(settings['tenant.default']);
  const { onStage, onSideEffect, hooks, outputFilters } = options;
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
    programOffers,
    server,
    redactor,
    ...(hooks === undefined ? {} : { hooks }),
    ...(outputFilters === undefined ? {} : { outputFilters }),
    ...(onSideEffect === undefined ? {} : { onSideEffect }),
    ...(onStage === undefined ? {} : { onStage }),
  });
  const stopFollowing = followUpstreams(assembled.parts);
  for (const name of ['documents', 'context'] as const) {
    const wanted = settings[`${name}.embedded`];
    if (wanted === 'on' || (options.withReferenceServers === true && wanted === 'auto'))
      await addReferenceServer(assembled.parts, name);
  }
  const close = async (): Promise<void> => {
    stopFollowing();
    await assembled.close();
  };
  const layer = embedded(
    createOperations(assembled.parts),
    { ...assembled, close },
    native,
    programOffers,
    settings,
    log,
  );
  return offering(layer, options);
}

/** The layer with the resources and prompts of the options; closed where one is refused. */
async function offering(
  layer: EmbeddedToolLayer,
  { resources = [], prompts = [] }: ToolLayerOptions,
): Promise<EmbeddedToolLayer> {
  try {
    for (const resource of resources) await layer.registerResource(resource);
    for (const prompt of prompts) await layer.registerPrompt(prompt);
  } catch (thrown) {
    await layer.close();
    throw thrown;
  }
  return layer;
}

function embedded(
  layer: ToolLayer,
  assembled: AssembledLayer,
  native: NativeExecutor,
  programOffers: ProgramOffers,
  settings: Settings,
  log: Log,
): EmbeddedToolLayer {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= assembled.close();
    return closing;
  };
  const own = { ...layer, ask: withoutSharing(layer.ask) };
  const functions = functionTools(own, native, LOCAL_CALLER, () => assembled.parts.callWorkers?.lookAgain());
  return {
    ...own,
    ...functions,
    ...offerTools(programOffers, functions.registerFunction),
    settings,
    log,
    ...(assembled.embeddedDatabase === undefined ? {} : { embeddedDatabase: assembled.embeddedDatabase }),
    forGateway: assembled,
    forServer: assembled,
    invoke: (request, caller) => own.ask('tools.invoke', request, { door: 'library', ...caller }),
    mintToken: (request) => own.ask('tokens.mint', request, LOCAL_CALLER),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Asks for a program in this process: what it passes is copied, since it may change it meanwhile, and so are answers, since
 * the layer may hold the same objects. The result of a call is nobody else's.
 */
const withoutSharing =
  (ask: ToolLayer['ask']): ToolLayer['ask'] =>
  async (name, input, caller) => {
    if (caller.door !== 'library') return ask(name, input, caller);
    const answer = await ask(name, ownCopy(input), caller);
    return name === 'tools.invoke' ? answer : ownCopy(answer);
  };

async function openDataFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    await makeFolder(path);
    // Paths hidden from sandboxes are compared by their real path.
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
