import type { Role } from '../../api/schemas/capability-token.ts';
import { type Failure, failure, isFailure } from '../domain/error/failure.ts';
import { failureOf, ToolLayerError } from '../domain/error/tool-layer-error.ts';
import type { Caller } from '../domain/principal/principal.ts';
import type { CompiledSchema } from '../validation/schema-validator.ts';
import { queryAudit } from './audit/query-audit.ts';
import { verifyAudit } from './audit/verify-audit.ts';
import { cancelTool } from './cancel-tool.ts';
import { type Access, OPERATIONS, type OperationInput, type OperationName, type OperationOutput } from './catalogue.ts';
import { invokeTool } from './invoke-tool.ts';
import { mintToken } from './mint-token.ts';
import type { Asker, Operations, Run } from './operation.ts';
import type { OperationParts } from './parts.ts';
import type { ToolLayer } from './tool-layer.ts';
import { toolStatus } from './tool-status.ts';
import { getTool } from './tools/get-tool.ts';
import { importOpenApi } from './tools/import-openapi.ts';
import { listManifests } from './tools/list-manifests.ts';
import { listTools } from './tools/list-tools.ts';
import { registerTool } from './tools/register-tool.ts';
import { removeTool } from './tools/remove-tool.ts';
import { addUpstream } from './upstreams/add-upstream.ts';
import { importUpstreams } from './upstreams/import-upstreams.ts';
import { listUpstreams } from './upstreams/list-upstreams.ts';
import { removeUpstream } from './upstreams/remove-upstream.ts';

/** Roles that may use the operator's operations. */
const OPERATORS: readonly Role[] = ['operator', 'admin'];

/** The layer in this process: checks input and access in one place, then does what was asked. */
export function createOperations(parts: OperationParts): ToolLayer {
  const operations: Operations = {
    'tool.invoke': invokeTool(parts),
    'tool.status': toolStatus(parts),
    'tool.cancel': cancelTool(parts),
    'tool.list': listTools(parts),
    'tools.get': getTool(parts),
    'tools.manifests': listManifests(parts),
    'tools.register': registerTool(parts),
    'tools.remove': removeTool(parts),
    'tools.import-openapi': importOpenApi(parts),
    'upstreams.list': listUpstreams(parts),
    'upstreams.add': addUpstream(parts),
    'upstreams.import': importUpstreams(parts),
    'upstreams.remove': removeUpstream(parts),
    'token.mint': mintToken(parts),
    'audit.query': queryAudit(parts),
    'audit.verify': verifyAudit(parts),
    health: () => parts.health(),
  };
  const inputs = compileInputs(parts);
  return {
    ask: (name, input, caller) => ask(parts, operations, inputs, name, input, caller),
    // The registry tells at once, in the middle of a registration; who listens here is told when it is over.
    onToolsChanged: (listener) => parts.registry.onChanged(() => setImmediate(listener)),
  };
}

type InputSchemas = Readonly<Record<OperationName, CompiledSchema>>;

/** Compiled once; the code itself is generated when an operation is first asked for. */
function compileInputs({ schemas }: Pick<OperationParts, 'schemas'>): InputSchemas {
  const compiled = Object.entries(OPERATIONS).map(([name, { input }]) => {
    const schema = schemas.compile({ ...input });
    if (isFailure(schema)) throw ToolLayerError.of(schema);
    return [name, schema] as const;
  });
  return Object.fromEntries(compiled) as InputSchemas;
}

async function ask<N extends OperationName>(
  parts: OperationParts,
  operations: Operations,
  inputs: InputSchemas,
  name: N,
  input: OperationInput<N>,
  caller: Caller,
): Promise<OperationOutput<N>> {
  try {
    const entry = OPERATIONS[name];
    const { faults } = inputs[name].check(input, { coerce: false });
    if (faults.length > 0) throw new ToolLayerError('E3801', malformed(name, faults), { details: { faults } });
    const asker = name === 'tool.invoke' ? unidentified(parts, caller) : await askerOf(parts, entry.access, caller);
    if (isFailure(asker)) throw ToolLayerError.of(asker);
    const run: Run<N> = operations[name];
    const output = await run(input, asker);
    if (isFailure(output)) throw ToolLayerError.of(output);
    return output;
  } catch (thrown) {
    if (thrown instanceof ToolLayerError) throw thrown;
    parts.log.error('operation-failed', {
      operation: name,
      cause: thrown instanceof Error ? thrown.stack : String(thrown),
    });
    throw ToolLayerError.of(failureOf(thrown));
  }
}

function malformed(name: string, faults: readonly { path: string; message: string }[]): string {
  const shown = faults.slice(0, 3).map(({ path, message }) => `${path === '' ? 'the request' : path} ${message}`);
  const more = faults.length > shown.length ? `, and ${faults.length - shown.length} more` : '';
  return `The request for ${name} is not well formed: ${shown.join('; ')}${more}.`;
}

/** A tool call finds out who asks in its own pipeline, where a refusal is put on record. */
const unidentified = (parts: OperationParts, caller: Caller): Asker => localAsker(parts, caller);

function localAsker({ defaultTenant }: OperationParts, caller: Caller): Asker {
  return {
    caller,
    principal: { tenantId: caller.tenantId ?? defaultTenant, agentDid: 'did:sallyport:operator', roles: ['operator'] },
  };
}

async function askerOf(parts: OperationParts, access: Access, caller: Caller): Promise<Asker | Failure> {
  if (access === 'open' || (caller.local === true && caller.token === undefined)) return localAsker(parts, caller);
  const identity = await parts.identify(caller);
  if (isFailure(identity)) return identity;
  if (access === 'operator' && !identity.principal.roles.some((role) => OPERATORS.includes(role))) {
    return failure(
      'E3213',
      `This operation needs the role ${OPERATORS.join(' or ')}; the token has ${identity.principal.roles.join(', ')}.`,
    );
  }
  return { ...identity, caller };
}
