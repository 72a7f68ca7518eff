import { resolve } from 'node:path';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Command } from 'commander';
import type { UpstreamAuthorization } from '../../../../../api/schemas/identity/upstream-authorization.ts';
import { ArgumentContent } from '../../../../../api/schemas/tool-manifest.ts';
import type { ToolOverride, UpstreamAddResponse, UpstreamDefinition } from '../../../../../api/schemas/upstream.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { askConsent, canAsk } from '../../input/ask-consent.ts';
import { collect, collectPairs, seconds } from '../../input/option-values.ts';
import { usageError } from '../../input/usage-error.ts';
import type { Printer } from '../../output/printer.ts';
import { printRegistrations } from '../../output/registrations.ts';
import { addressOf, mountOf } from './grants.ts';

interface AddOptions {
  readonly mount?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly network?: readonly string[];
  readonly url?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scope?: readonly string[];
  readonly pure?: readonly string[];
  readonly idempotent?: readonly string[];
  readonly confirm?: readonly string[];
  readonly approve?: readonly string[];
  readonly content?: readonly string[];
  readonly timeout?: number;
  readonly mayAsk?: readonly ('sampling' | 'roots')[];
  readonly mayCheckpoint?: boolean;
  readonly newTools: boolean;
  readonly perCaller?: boolean;
  readonly listCredential?: Readonly<Record<string, string>>;
  readonly yes?: boolean;
}

/** `upstreams add`. */
export function addAddCommand(upstreams: Command, kit: CommandKit): void {
  const add = upstreams
    .command('add')
    .description('connect an MCP server and register its tools')
    .argument('<name>', 'prefix of the tool ids')
    .argument('[command...]', 'after --: the command that starts the server, in a sandbox')
    .option('--mount <path[:rw]>', 'folder that the server sees, read-only unless :rw', collect)
    .option('--env <name=value>', 'variable of the server', collectPairs)
    .option('--cwd <folder>', 'where the server starts')
    .option('--network <host:port>', 'address that the server may reach', collect)
    .option('--url <url>', 'address of a server that runs already, instead of a command')
    .option('--header <name=value>', 'header sent to it; {{NAME}} stands for a secret', collectPairs)
    .option(
      '--client-id <id>',
      'client that you registered at its authorization server; with a secret: --client-secret',
    )
    .option('--client-secret <name>', 'name of the secret that holds it')
    .option('--scope <scope>', 'scope to ask its authorization server for', collect)
    .option('--pure <tool>', 'you state that this tool leaves nothing behind; * for all', collect)
    .option('--idempotent <tool>', 'you state that calling this tool twice is as good as once; * for all', collect)
    .option('--confirm <tool>', 'calls of this tool have to be confirmed; * for all', collect)
    .option('--approve <tool>', 'calls of this tool need an approval; * for all', collect)
    .option(
      '--content <tool:/argument=content>',
      'what this argument of this tool holds, such as query:/sql=fragment; * for all tools',
      collect,
    )
    .option('--timeout <duration>', 'timeout of its tools, for example 5m; progress begins it anew', seconds)
    .option('--per-caller', 'each caller has a connection of its own; {{NAME}} is then a credential of the call')
    .option(
      '--list-credential <name=secret>',
      'with --per-caller: what stands in for {{NAME}} to list tools',
      collectPairs,
    )
    .option('--yes', 'a package that the command needs may be downloaded and installed')
    .option('--may-ask <kind>', 'sampling or roots: what it may ask clients beside values of a person', collect)
    .option('--may-checkpoint', 'it may save checkpoints of its calls, from which later ones continue')
    .option('--no-new-tools', 'tools, prompts and templates that the server adds later wait in quarantine');
  kit.adding<AddOptions>(add, async (work, [name, command], options) => {
    const { print, parts } = work;
    const overrides = overridesOf(options);
    const upstream: UpstreamDefinition = {
      name: String(name),
      transport: transportOf((command ?? []) as string[], options, parts.io.cwd),
      ...(Object.keys(overrides).length === 0 ? {} : { overrides }),
      ...(options.newTools ? {} : { accept_new_tools: false }),
      ...(options.mayAsk === undefined ? {} : { may_ask: ['elicitation', ...options.mayAsk] }),
      ...(options.mayCheckpoint === true ? { may_save_checkpoints: true } : {}),
      ...(options.perCaller === true ? { per_caller: true } : {}),
      ...(options.listCredential === undefined ? {} : { list_credentials: options.listCredential }),
    };
    const answer = await addAsking(work, upstream, options.yes === true);
    if (print.json) print.value(answer);
    else printAdded(answer, print);
    return EXIT.ok;
  });
}

/** Asks the person at the terminal before something is installed; without a terminal the refusal says what to type. */
async function addAsking(
  { layer, caller, print, parts }: CommandWork,
  upstream: UpstreamDefinition,
  yes: boolean,
): Promise<UpstreamAddResponse> {
  try {
    return await layer.ask('upstreams.add', { upstream, ...(yes ? { install: true } : {}) }, caller);
  } catch (thrown) {
    const wanted = failureOf(thrown).details?.['install'] as { manager: string; package: string } | undefined;
    if (wanted === undefined || yes || !canAsk(parts.io)) throw thrown;
    const question = `Install the ${wanted.manager} package ${wanted.package} into the data folder?`;
    if (!(await askConsent(parts.io, print, question))) throw thrown;
    return await layer.ask('upstreams.add', { upstream, install: true }, caller);
  }
}

/** Prints the result of adding an upstream. */
export function printAdded({ upstream, registrations, needs_login }: UpstreamAddResponse, print: Printer): void {
  print.line(`${upstream.name}: ${upstream.state}, ${upstream.tool_count} tools`);
  if (needs_login !== undefined) print.note(needs_login);
  printRegistrations(print, registrations);
  if (upstream.quarantined_count > 0) {
    print.note(
      `${upstream.quarantined_count} tools wait in quarantine: sallyport upstreams quarantine ${upstream.name}`,
    );
  }
}

function overridesOf({
  pure = [],
  idempotent = [],
  confirm = [],
  approve = [],
  content = [],
  timeout,
}: AddOptions): Record<string, ToolOverride> {
  const overrides: Record<string, ToolOverride> = {};
  const state = (tools: readonly string[], said: ToolOverride): void => {
    for (const tool of tools) overrides[tool] = { ...overrides[tool], ...said };
  };
  for (const tool of pure) {
    if (idempotent.includes(tool)) throw usageError(`${tool} is either --pure or --idempotent, not both.`);
  }
  state(pure, { side_effect_policy: 'pure' });
  state(idempotent, { side_effect_policy: 'idempotent' });
  state(confirm, { requires_confirmation: true });
  state(approve, { requires_approval: true });
  for (const text of content) {
    const [tool, said] = contentOf(text);
    state([tool], { argument_content: { ...overrides[tool]?.argument_content, ...said } });
  }
  if (timeout !== undefined) {
    if (timeout <= 0) throw usageError('--timeout is more than nothing. Write a duration such as 30s, 5m or 1h.');
    state(['*'], { timeout_seconds: timeout });
  }
  return overrides;
}

/** Parses `write_file:/content=html`: a tool, a JSON Pointer to its argument, and the kind of content there. */
function contentOf(text: string): [tool: string, said: NonNullable<ToolOverride['argument_content']>] {
  const [, tool, place, content] = /^([^:]+):(\/.*)=([a-z]+)$/.exec(text) ?? [];
  if (tool === undefined || place === undefined || !isContent(content)) {
    const words = ArgumentContent.enum.join(', ');
    throw usageError(`--content ${text}: write it as TOOL:/ARGUMENT=CONTENT; CONTENT is one of ${words}.`);
  }
  return [tool, { [place]: content }];
}

const isContent = (word: string | undefined): word is ArgumentContent =>
  (ArgumentContent.enum as readonly (string | undefined)[]).includes(word);

function transportOf(words: readonly string[], options: AddOptions, cwd: string): UpstreamDefinition['transport'] {
  const [command, ...args] = words;
  const { url, header, env, mount, network } = options;
  if (url !== undefined) {
    if (command !== undefined) throw usageError('Give either --url or a command after --, not both.');
    const authorization = authorizationOf(options);
    return {
      ...{ type: 'http', url },
      ...(header === undefined ? {} : { headers: { ...header } }),
      ...(authorization === undefined ? {} : { authorization }),
    };
  }
  if (command === undefined)
    throw usageError('Give the command after --, or --url. Example: upstreams add files -- npx my-server');
  return {
    type: 'stdio',
    command,
    args,
    ...(options.cwd === undefined ? {} : { cwd: resolve(cwd, options.cwd) }),
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(mount === undefined ? {} : { mounts: mount.map((text) => mountOf(text, cwd)) }),
    ...(network === undefined ? {} : { network: network.map(addressOf) }),
  };
}

function authorizationOf({ clientId, clientSecret, scope }: AddOptions): UpstreamAuthorization | undefined {
  if (clientId === undefined && clientSecret === undefined && scope === undefined) return undefined;
  if (clientSecret !== undefined && clientId === undefined) throw usageError('--client-secret needs --client-id.');
  return {
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(clientSecret === undefined ? {} : { client_secret: `{{${clientSecret}}}` }),
    ...(scope === undefined ? {} : { scopes: [...scope] }),
  };
}
