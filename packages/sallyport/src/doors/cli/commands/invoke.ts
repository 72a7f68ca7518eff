import { ERRORS, type ErrorCode } from '@sallyport/std/error/catalogue';
import { failure } from '@sallyport/std/error/failure';
import type { Command } from 'commander';
import type { DryRunResponse } from '../../../../api/schemas/calls/dry-run.ts';
import { TrustLevel } from '../../../../api/schemas/capability-token.ts';
import type { ToolErrorBody } from '../../../../api/schemas/error.ts';
import {
  CallPriority,
  InvocationPhase,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { EXIT } from '../cli-parts.ts';
import type { AskingRun, CommandKit, CommandWork } from '../command-kit.ts';
import { collect, collectPairs, oneOf, seconds } from '../input/option-values.ts';
import { readArguments } from '../input/read-json.ts';
import { arePairs, pairsAsArguments } from '../input/read-pairs.ts';
import type { Printer } from '../output/printer.ts';

/** Lifetime of a token minted for one call, beyond the call's own timeout, in seconds. */
const TOKEN_SECONDS = 60;
/** Timeout assumed for a call that names none when its token is minted, in seconds; longer tools need `--timeout`. */
const TIMEOUT_SECONDS = 600;

interface InvokeOptions {
  readonly version?: string;
  readonly token?: string;
  readonly timeout?: number;
  readonly idempotencyKey?: string;
  readonly phase?: InvocationPhase;
  readonly claimSource?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly trust?: TrustLevel;
  readonly dryRun?: boolean;
  readonly async?: boolean;
  readonly priority?: CallPriority;
  readonly requireApproval?: boolean;
  readonly resume?: string;
  readonly document?: readonly string[];
  readonly documentQuery?: string;
  readonly documentPinning?: boolean;
}

/** `invoke TOOL [ARGUMENTS]`. */
export function addInvokeCommand(program: Command, kit: CommandKit): void {
  const invoke = program
    .command('invoke')
    .description('call a tool')
    .argument('<tool>', 'id of the tool')
    .argument('[arguments...]', 'name=value each, or one JSON object, @file, or - for standard input')
    .option('--version <range>', 'version or SemVer range of the tool')
    .option('--token <token>', 'capability token; without it one is made for this call')
    .option('--timeout <duration>', 'longest time the tool may run, for example 30s', seconds)
    .option('--idempotency-key <key>', 'calls with the same key run once')
    .option(
      '--phase <phase>',
      `when in its reasoning the agent calls: ${InvocationPhase.enum.join(', ')}`,
      oneOf(InvocationPhase.enum),
    )
    .option('--claim-source <words>', 'where the content of the arguments came from')
    .option('--async', 'answer once the call is accepted; see "calls watch"')
    .option('--priority <word>', CallPriority.enum.join(', '), oneOf(CallPriority.enum))
    .option('--require-approval', 'run it only once an approver approved it')
    .option(
      '--env <name=value>',
      'variable for this call of a skill or shell tool; may come several times',
      collectPairs,
    )
    .option('--trust <level>', `trust the call no further: ${TrustLevel.enum.join(', ')}`, oneOf(TrustLevel.enum))
    .option('--resume <checkpoint-id>', 'continue the work of an earlier call; see "checkpoints list"')
    .option('--document <id>', 'document for the tool, ID or ID@VERSION; repeat it for several', collect)
    .option('--document-query <question>', 'document for the tool that answers a question')
    .option('--no-document-pinning', 'let later runs of the call have newer versions')
    .option('--dry-run', 'say what would become of the call, and why; run nothing');
  const run: AskingRun<InvokeOptions> = async (work, [tool, given], options) => {
    const parameters = await argumentsOf(work, String(tool), (given ?? []) as readonly string[], options);
    const request = requestOf(String(tool), parameters, options);
    const token = options.token ?? work.parts.io.env['SALLYPORT_TOKEN'] ?? (await mintFor(work, request, options));
    const caller = { ...work.caller, token };
    if (options.dryRun === true) return printDryRun(await work.layer.ask('tools.dry-run', request, caller), work.print);
    const response = await work.layer.ask('tools.invoke', request, caller);
    return printResponse(response, work.print);
  };
  kit.adding(invoke, run, ({ dryRun }) => (dryRun === true ? 'borrow' : 'make'));
}

/** `name=value` pairs are read by the tool's schema, as visible to the caller of the command. */
async function argumentsOf(
  { layer, caller, parts }: CommandWork,
  toolId: string,
  words: readonly string[],
  { version, token }: InvokeOptions,
): Promise<Record<string, unknown>> {
  if (!arePairs(words)) return readArguments(words[0], parts.io);
  const range = version === undefined ? {} : { version };
  const known = token ?? parts.io.env['SALLYPORT_TOKEN'];
  const asker = known === undefined ? caller : { ...caller, token: known };
  const { manifest } = await layer.ask('tools.get', { tool_id: toolId, ...range }, asker);
  return pairsAsArguments(words, manifest.parameters_schema);
}

function requestOf(toolId: string, parameters: Record<string, unknown>, options: InvokeOptions): ToolInvokeRequest {
  const { version, timeout, idempotencyKey, phase, claimSource, priority, env, trust } = options;
  const execution_options = {
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    ...(phase === undefined ? {} : { phase }),
    ...(claimSource === undefined ? {} : { claim_source: claimSource }),
    ...(env === undefined ? {} : { environment: env }),
    ...(trust === undefined ? {} : { trust_level: trust }),
    ...(options.async === true ? { async_mode: true } : {}),
    ...(priority === undefined ? {} : { priority }),
    ...(options.requireApproval === true ? { require_approval: true } : {}),
  };
  return {
    tool_id: toolId,
    parameters,
    ...(version === undefined ? {} : { tool_version: version }),
    ...(timeout === undefined ? {} : { resource_limits: { timeout_seconds: timeout } }),
    ...(options.resume === undefined ? {} : { checkpoint_config: { resume_from_checkpoint_id: options.resume } }),
    ...documentsOf(options),
    ...(Object.keys(execution_options).length === 0 ? {} : { execution_options }),
  };
}

/**
 * Mints a token for this tool alone with the rights its manifest asks for: the person at this machine may grant them.
 */
function documentsOf({
  document,
  documentQuery,
  documentPinning,
}: InvokeOptions): Pick<ToolInvokeRequest, 'document_context'> {
  if (document === undefined && documentQuery === undefined && documentPinning !== false) return {};
  return {
    document_context: {
      ...(document === undefined ? {} : { document_refs: [...document] }),
      ...(documentQuery === undefined ? {} : { query: documentQuery }),
      ...(documentPinning === false ? { version_pinning: false } : {}),
    },
  };
}

async function mintFor(work: CommandWork, request: ToolInvokeRequest, options: InvokeOptions): Promise<string> {
  const { layer, caller } = work;
  const range = request.tool_version === undefined ? {} : { version: request.tool_version };
  const { manifest } = await layer.ask('tools.get', { tool_id: request.tool_id, ...range }, caller);
  const lives = Math.ceil((options.timeout ?? TIMEOUT_SECONDS) + TOKEN_SECONDS);
  const minted = await layer.ask(
    'tokens.mint',
    { tool_id: request.tool_id, expires_in_seconds: lives, ...permissionsOf(manifest) },
    caller,
  );
  return minted.capability_token;
}

function permissionsOf({ permissions = {} }: ToolManifest) {
  const { filesystem = [], network = [], credentials = [] } = permissions;
  return {
    ...(filesystem.length === 0 ? {} : { paths: filesystem.map(({ path }) => path), mode: widestMode(filesystem) }),
    ...(network.length === 0 ? {} : { hosts: unique(network.map(({ host }) => host)) }),
    ...(network.length === 0 ? {} : { ports: unique(network.map(({ port }) => port)) }),
    ...(credentials.length === 0 ? {} : { secrets: [...credentials] }),
  };
}

function widestMode(filesystem: readonly { readonly mode: 'ro' | 'rw' }[]): 'ro' | 'rw' {
  return filesystem.some(({ mode }) => mode === 'rw') ? 'rw' : 'ro';
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

function printResponse(response: ToolInvokeResponse, print: Printer): number {
  if (print.json) print.value(response);
  else {
    for (const { code, message } of response.warnings ?? []) print.note(`${code}: ${message}`);
    if (response.error === undefined) print.text(resultText(response));
    else printError(response.error, print);
    printNextStep(response, print);
  }
  return response.error === undefined ? EXIT.ok : EXIT.refused;
}

/** Says where to follow a call that is not over. */
function printNextStep({ status, approval, invocation_id }: ToolInvokeResponse, print: Printer): void {
  if (status === 'pending_approval' && approval !== undefined)
    print.note(`It waits for a person: sallyport approvals show ${approval.approval_id}`);
  if (status === 'pending' || status === 'running')
    print.note(`Follow it with: sallyport calls watch ${invocation_id}`);
}

/** Prints the outcome of a dry run; returns the exit code that the call itself would have had. */
function printDryRun(response: DryRunResponse, print: Printer): number {
  const { would, stages, error, policy_decision, trust, warnings = [] } = response;
  if (print.json) print.value(response);
  else {
    print.line(`The call would ${would === 'ask' ? 'wait for a person' : would === 'run' ? 'run' : 'be refused'}.`);
    print.table(
      ['STAGE', 'OUTCOME', 'NOTE'],
      stages.map(({ stage, outcome, takes }) => [stage, outcome.replace('_', ' '), takes ?? '']),
    );
    if (trust !== undefined) print.line(`trust: ${trust}`);
    if (policy_decision !== undefined) {
      const { policies, shadow } = policy_decision;
      print.line(`policies: ${policies.join(', ') || 'none'}`);
      if (shadow !== undefined)
        print.line(`shadow: ${shadow.allowed ? 'allows' : 'denies'} by ${shadow.policies.join(', ') || 'none'}`);
    }
    for (const { code, message } of warnings) print.note(`${code}: ${message}`);
    if (error !== undefined) printError(error, print);
  }
  return would === 'run' ? EXIT.ok : EXIT.refused;
}

function printError(error: ToolErrorBody, print: Printer): void {
  const code: ErrorCode = Object.hasOwn(ERRORS, error.e_code) ? (error.e_code as ErrorCode) : 'E3900';
  const { message, details, retry_after_ms } = error;
  print.failure(
    failure(code, message, {
      ...(details === undefined ? {} : { details }),
      ...(retry_after_ms === undefined ? {} : { retryAfterMs: retry_after_ms }),
    }),
  );
  const reported = textBlocks(details?.['result']);
  if (reported !== undefined) print.text(reported);
}

/** The result for people: text unchanged, MCP text blocks as text, anything else as JSON. */
function resultText({ result, status, invocation_id }: ToolInvokeResponse): string {
  if (result === undefined) return status === 'success' ? '' : `${status}: ${invocation_id}`;
  if (typeof result === 'string') return result;
  return textBlocks(result) ?? JSON.stringify(result, null, 2);
}

/** The text of a CallToolResult that contains only text blocks; undefined for anything else. */
function textBlocks(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || !('content' in result)) return undefined;
  const { content } = result;
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const texts = content.map((block) => (block?.type === 'text' ? block.text : undefined));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}
