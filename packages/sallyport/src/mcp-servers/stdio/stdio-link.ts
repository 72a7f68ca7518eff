import type { SandboxDriver } from '@sallyport/sandbox';
import { messageOf } from '@sallyport/std/error/message-of';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { StdioTransport } from '../../../api/schemas/upstream.ts';
import { hideInValue } from '../../external/hide-secrets.ts';
import { callFailure } from '../connection/call-failures.ts';
import { callTool } from '../connection/calls/call-tool.ts';
import { type Handshake, shakeHands } from '../connection/handshake/handshake.ts';
import type { Link, LinkParts, OpenOptions } from '../connection/link.ts';
import { listTools } from '../connection/listing/list-tools.ts';
import { createMultiplexer, type Multiplexer } from '../connection/multiplexer.ts';
import { listOffers } from '../connection/offers/list-offers.ts';
import { type FilledValues, fillSecrets } from '../connection/secrets/secret-values.ts';
import { taskLink } from '../connection/tasks/task-link.ts';
import { createQuestions } from '../incoming/questions.ts';
import { giveHidden } from '../incoming/server-logs.ts';
import { optionHint } from './option-hint.ts';
import { quotedLines } from './quoted-lines.ts';
import { type CheckShown, type InstalledFolders, sandboxSpecOf } from './sandbox-spec.ts';
import { createSandboxTransport, type SandboxTransport, type SandboxTransportEnd } from './sandbox-transport.ts';
import type { StderrLog } from './stderr-log.ts';

/** Dependencies of a stdio link beside its definition. */
export interface StdioLinkParts extends LinkParts {
  readonly driver: SandboxDriver;
  /** Called before each start with the paths that the definition shows implicitly. */
  readonly checkShown: CheckShown;
  /** Folders of installed packages. */
  readonly packages: InstalledFolders;
  /** Keeps the server's standard error. */
  readonly stderrLog: StderrLog;
}

/** How long an exit may take to become known after the output ended, ms. */
const EXIT_MOMENT_MS = 50;
/** Most characters of a protocol error quoted in a message. */
const FAULT_CHARS_SHOWN = 1_000;
/** An answer's id is at one end of its line; it identifies a message too long to read. */
const ID_AT_END = /"id"\s*:\s*(\d{1,10})\s*\}\s*$/;
const ID_AT_START = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,10})\s*,/;

/**
 * Starts the server in a sandbox and shakes hands. A server that ends at the probe for the newer protocol is started
 * once more with the older one.
 * @throws E3801 E3105 when its program, folder or mount does not exist; E3101 E3104 of the driver; E3302 for a missing
 *   secret; E3108 when it ended; E3306 when it did not answer; E3308 when it broke the protocol
 */
export async function openStdioLink(
  parts: StdioLinkParts,
  tenantId: string,
  name: string,
  transport: StdioTransport,
  options: OpenOptions & { readonly timeoutMs: number },
): Promise<Link> {
  const environment = await fillSecrets(tenantId, transport.env ?? {}, parts.secrets);
  const start = (olderProtocolOnly: boolean): Promise<Link> =>
    connect(parts, { tenantId, name }, transport, environment, { ...options, olderProtocolOnly });
  try {
    return await start(options.olderProtocolOnly);
  } catch (thrown) {
    const endedAtProbe = thrown instanceof ToolLayerError && thrown.failure.details?.['ended_at_probe'] === true;
    if (!endedAtProbe || options.signal.aborted) throw thrown;
    return start(true);
  }
}

async function connect(
  parts: StdioLinkParts,
  { tenantId, name }: { readonly tenantId: string; readonly name: string },
  definition: StdioTransport,
  environment: FilledValues,
  options: OpenOptions & { readonly timeoutMs: number },
): Promise<Link> {
  const { clock, log } = parts;
  const spec = sandboxSpecOf(name, definition, environment.values, parts.checkShown, parts.packages);
  const process = await parts.driver.start(spec);
  parts.stderrLog.follow(process.stderr, environment.hide);
  const transport = createSandboxTransport({ process, label: name, log, clock });
  const mux = createMultiplexer({
    transport,
    label: name,
    clock,
    questions: createQuestions({ ...parts, tenantId, upstream: name }),
    messageBytes: transport.messageBytes,
    onAsks: (askers) => options.onAsks?.(askers),
    onLog: (message, owner) => giveHidden(message, environment.hideInAnswers, options.onLog, owner),
    onFlood: () => transport.fail('it floods the connection with messages that nobody asked for'),
  });
  transport.ontext = mux.noteText;
  transport.onlongline = (head, tail, bytes) => failLongAnswer(mux, name, head, tail, bytes);
  const stop = (): void => void transport.close();
  options.signal.addEventListener('abort', stop, { once: true });
  if (options.signal.aborted) stop();
  try {
    const hands = await shakeHands(mux, {
      client: parts.client,
      timeoutMs: options.timeoutMs,
      signal: options.signal,
      olderProtocolOnly: options.olderProtocolOnly,
      onToolsChanged: options.onToolsChanged,
      onOffersChanged: () => options.onOffersChanged?.(),
      onResourceUpdated: (uri) => options.onResourceUpdated?.(uri),
      onError: (error) =>
        log.debug('upstream-protocol-error', { upstream: name, error: environment.hide(error.message) }),
    });
    return linkOf(name, transport, mux, hands, environment);
  } catch (thrown) {
    const ended = await endOf(transport);
    throw startFailure(name, transport, ended, thrown, environment, {
      timeoutMs: options.timeoutMs,
      atProbe: !options.olderProtocolOnly && !mux.probeAnswered(),
      aborted: options.signal.aborted,
    });
  } finally {
    options.signal.removeEventListener('abort', stop);
  }
}

function linkOf(
  name: string,
  transport: SandboxTransport,
  mux: Multiplexer,
  hands: Handshake,
  environment: FilledValues,
): Link {
  const { hideInAnswers } = environment;
  const shown = <Said>(said: Said): Said => (hideInAnswers === undefined ? said : hideInValue(said, hideInAnswers));
  return {
    identity: shown(hands.identity),
    olderProtocolOnly: hands.olderProtocolOnly,
    hide: hideInAnswers,
    listTools: async (signal) => shown(await listTools(mux, name, hands.offered, signal)),
    listOffers: async (signal) => shown(await listOffers(mux, hands, signal)),
    watch: (uri) => hands.watch(uri).catch((thrown: unknown) => Promise.reject(callFailure(name, thrown, undefined))),
    call: (tool, args, options) => callTool(mux, name, tool, args, options, hands.tasks),
    ...taskLink(mux, name, hands.tasks),
    async ping(timeoutMs) {
      await mux.request(hands.modern ? 'server/discover' : 'ping', {}, { timeoutMs }).catch((error: unknown) => {
        // Any answer shows that the server lives, even a refusal.
        if (error instanceof ToolLayerError) throw error;
      });
    },
    ended: transport.ended.then((end) => describeEnd(end, environment.hide(transport.stderrTail()))),
    close: () => transport.close(),
  };
}

/** The process's own end before we stop it, if it exited by itself. */
async function endOf(transport: SandboxTransport): Promise<SandboxTransportEnd | undefined> {
  if (transport.hasFailed()) return transport.ended;
  // When a server exits, its output ends first; its exit code follows a moment later.
  const moment = new Promise<undefined>((resolve) => setTimeout(resolve, EXIT_MOMENT_MS, undefined));
  const ended = await Promise.race([transport.ended, moment]);
  if (ended === undefined) await transport.close();
  return ended;
}

interface StartContext {
  readonly timeoutMs: number;
  readonly atProbe: boolean;
  readonly aborted: boolean;
}

function startFailure(
  name: string,
  transport: SandboxTransport,
  ended: SandboxTransportEnd | undefined,
  cause: unknown,
  { hide }: FilledValues,
  { timeoutMs, atProbe, aborted }: StartContext,
): ToolLayerError {
  // Hidden before cutting: otherwise a part of a secret would show.
  const stderr = hide(transport.stderrTail());
  if (ended !== undefined && !ended.closed) {
    const message = `The upstream '${name}' ended before it was ready: ${describeEnd(ended, stderr)}${optionHint(stderr)}`;
    if (ended.reason !== undefined) return new ToolLayerError('E3308', message, { cause });
    return new ToolLayerError('E3108', message, { cause, ...(atProbe ? { details: { ended_at_probe: true } } : {}) });
  }
  const said = quoteStderr(stderr);
  const rubbish = transport.rubbishLines();
  if (aborted || isTimeout(cause)) {
    const printed =
      rubbish === 0
        ? 'It wrote nothing readable on its standard output; is it an MCP server that speaks stdio?'
        : `It printed ${rubbish} lines on its standard output that are no MCP messages; a stdio server must print its log on standard error.`;
    return new ToolLayerError(
      'E3306',
      `The upstream '${name}' did not answer within ${timeoutMs} ms. ${printed}${said}`,
      {
        cause,
      },
    );
  }
  if (cause instanceof ToolLayerError) return cause;
  const fault = hide(messageOf(cause)).slice(0, FAULT_CHARS_SHOWN);
  return new ToolLayerError('E3308', `The upstream '${name}' broke the protocol: ${fault}.${said}`, { cause });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'REQUEST_TIMEOUT';
}

/** @param stderr without secrets */
function describeEnd({ exit, reason, closed }: SandboxTransportEnd, stderr: string): string {
  if (closed) return 'it was closed.';
  const how =
    reason !== undefined
      ? `it was stopped because ${reason}`
      : exit.violation !== undefined
        ? `it was stopped at its ${exit.violation} limit`
        : exit.lost === true
          ? 'its sandbox was ended from outside'
          : exit.signal !== undefined
            ? `it ended by ${exit.signal}`
            : `it exited with code ${exit.code ?? 'unknown'}`;
  return `${how}.${quoteStderr(stderr)}`;
}

function quoteStderr(stderr: string): string {
  const said = quotedLines(stderr);
  return said === '' ? '' : ` Its last words: ${said}`;
}

/** A message too long to read answers one request; only that request fails. */
function failLongAnswer(mux: Multiplexer, name: string, head: string, tail: string, bytes: number): void {
  const id = ID_AT_END.exec(tail)?.[1] ?? ID_AT_START.exec(head)?.[1];
  if (id === undefined) return;
  mux.failRequest(
    Number(id),
    new ToolLayerError('E3308', `The upstream '${name}' answered with ${bytes} bytes, more than the layer reads.`, {
      details: { reached: true },
    }),
  );
}
