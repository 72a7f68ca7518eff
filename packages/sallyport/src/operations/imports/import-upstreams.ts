import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import {
  type UpstreamDefinition,
  UpstreamImportRequest,
  UpstreamImportResponse,
} from '../../../api/schemas/upstream.ts';
import { readDesktopConfiguration } from '../../mcp-servers/desktop-configuration.ts';
import { literalSecrets, secretArgument, secretNameOf } from '../../mcp-servers/upstreams.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { connectAndRegister, keptUpstream, withInstalled } from '../upstreams/add-upstream.ts';

/** Temporary faults of a server, or of the path to it. */
const MAY_PASS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...([
    'E3103',
    'E3107',
    'E3108',
    'E3301',
    'E3302',
    'E3303',
    'E3304',
    'E3306',
    'E3307',
    'E3308',
    'E3309',
    'E3310',
  ] as const),
]);

/**
 * Imports the servers of a desktop client's file (REG-14). A server that cannot be connected is kept and retried; an
 * invalid entry is left out. Neither keeps the others out.
 */
export const importUpstreams = operation({
  name: 'upstreams.import',
  summary: "Add the servers of a desktop client's mcpServers JSON",
  method: 'POST',
  path: '/v1/imports/mcp-servers',
  status: 200,
  access: 'operator',
  input: UpstreamImportRequest,
  output: UpstreamImportResponse,
  run:
    (parts: OperationParts) =>
    async ({ configuration, source, only, dry_run, install, mounts = {}, network = {} }, asker) => {
      const read = readDesktopConfiguration(configuration, source);
      const granted = withGrants(read.upstreams, mounts, network);
      const definitions = only === undefined ? granted : granted.filter(({ name }) => only.includes(name));
      const { tenantId } = asker.principal;
      const answer: UpstreamImportResponse = {
        planned: definitions.map((definition) => parts.upstreams.plan(tenantId, definition)),
        imported: [],
        kept: [],
        // With `only` this is the rest of an import that reported these already.
        refused: only === undefined ? [...read.refused] : [],
        notes: only === undefined ? [...read.notes, ...(await secretNotes(parts, tenantId, definitions))] : [],
      };
      if (dry_run === true) return answer;
      for (const definition of definitions) await importOne(parts, asker, definition, install === true, answer);
      return answer;
    },
});

type Grants = Pick<UpstreamImportRequest, 'mounts' | 'network'>;

/**
 * The definitions, with the operator's grants of what each may see and reach added to its entry.
 * @throws E3801 for a name that no program of the file has
 */
function withGrants(
  definitions: readonly UpstreamDefinition[],
  mounts: NonNullable<Grants['mounts']>,
  network: NonNullable<Grants['network']>,
): readonly UpstreamDefinition[] {
  const programs = definitions.filter(({ transport }) => transport.type === 'stdio').map(({ name }) => name);
  const unknown = [...Object.keys(mounts), ...Object.keys(network)].find((name) => !programs.includes(name));
  if (unknown !== undefined) {
    const known = `Servers that start a program are: ${programs.join(', ')}.`;
    throw new ToolLayerError('E3801', `A mount or address is for ${unknown}, which the file does not start. ${known}`);
  }
  return definitions.map((definition) => {
    const { name, transport } = definition;
    if (transport.type !== 'stdio') return definition;
    const [seen = [], reached] = [mounts[name], network[name]];
    const others = (transport.mounts ?? []).filter(({ path }) => seen.every((mount) => mount.path !== path));
    const all = [...others, ...seen];
    return {
      ...definition,
      transport: {
        ...transport,
        ...(all.length === 0 ? {} : { mounts: all }),
        ...(reached === undefined ? {} : { network: [...reached] }),
      },
    };
  });
}

/** Says for each plain-text secret in the file what becomes of it. */
async function secretNotes(
  { keepsSecrets, secrets }: OperationParts,
  tenantId: string,
  definitions: readonly UpstreamDefinition[],
): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const definition of definitions) {
    const { name } = definition;
    const literal = literalSecrets(definition);
    if (!keepsSecrets && hasSecretArgument(definition))
      notes.push(
        `${name}: an argument is a secret, and stays as it is. Give the server a variable instead, if it takes one.`,
      );
    if (literal.length === 0) continue;
    if (keepsSecrets) {
      notes.push(`${name}: ${literal.join(', ')} is a secret. It is kept encrypted, and goes with the upstream.`);
      continue;
    }
    const missing = await secrets
      .read(
        tenantId,
        literal.map((key) => secretNameOf(name, key)),
      )
      .then(() => undefined, failureOf);
    if (missing !== undefined)
      notes.push(
        `${name}: its secrets are not kept, for every instance needs them. ${missing.message} Do so for every instance.`,
      );
  }
  return notes;
}

const hasSecretArgument = ({ transport }: UpstreamDefinition): boolean =>
  transport.type === 'stdio' && (transport.args ?? []).some((_arg, at, args) => secretArgument(args, at) !== undefined);

async function importOne(
  parts: OperationParts,
  asker: Asker,
  asked: UpstreamDefinition,
  mayInstall: boolean,
  answer: UpstreamImportResponse,
): Promise<void> {
  const { name } = asked;
  try {
    const definition = await withInstalled(parts, asker, asked, mayInstall);
    try {
      answer.imported.push(await connectAndRegister(parts, asker, definition));
    } catch (thrown) {
      const { code, message } = failureOf(thrown);
      if (!MAY_PASS.has(code) || !(await keptUpstream(parts, asker, definition))) throw thrown;
      answer.kept.push({ name, reason: message });
    }
  } catch (thrown) {
    answer.refused.push({ name, reason: failureOf(thrown).message });
  }
}
