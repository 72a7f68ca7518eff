import type { Role } from '../../api/schemas/capability-token.ts';
import { type Failure, failure, isFailure } from '../domain/error/failure.ts';
import { failureOf, ToolLayerError } from '../domain/error/tool-layer-error.ts';
import type { Caller } from '../domain/principal/principal.ts';
import type { CompiledSchema } from '../validation/schema-validator.ts';
import { queryAudit } from './audit/query-audit.ts';
import { verifyAudit } from './audit/verify-audit.ts';
import { cancelTool } from './cancel-tool.ts';
import {
  OPERATIONS,
  type OperationEntry,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from './catalogue.ts';
import { importsOperations } from './imports/imports-operations.ts';
import { inspectToken } from './inspect-token.ts';
import { invokeTool } from './invoke-tool.ts';
import { mintToken } from './mint-token.ts';
import type { Asker, Operations, Run } from './operation.ts';
import type { OperationParts } from './parts.ts';
import type { ToolLayer } from './tool-layer.ts';
import { toolStatus } from './tool-status.ts';
import { lifecycleOperations } from './tools/lifecycle-operations.ts';
import { toolsOperations } from './tools/tools-operations.ts';
import { upstreamsOperations } from './upstreams/upstreams-operations.ts';
import { visibilityOperations } from './visibility/visibility-operations.ts';

/** Roles that may use the operator's operations. */
const OPERATORS: readonly Role[] = ['operator', 'admin'];

/** The layer in this process: checks input and access in one place, then does what was asked. */
export function createOperations(parts: OperationParts): ToolLayer {
  const operations: Operations = {
    'tool.invoke': invokeTool(parts),
    'tool.status': toolStatus(parts),
    'tool.cancel': cancelTool(parts),
    ...toolsOperations(parts),
    ...lifecycleOperations(parts),
    ...importsOperations(parts),
    ...upstreamsOperations(parts),
    ...visibilityOperations(parts),
    'token.mint': mintToken(parts),
    'token.inspect': inspectToken(),
    'audit.query': queryAudit(parts),
    'audit.verify': verifyAudit(parts),
    health: () => parts.health(),
  };
  const inputs = inputSchemas(parts);
  return {
    ask: (name, input, caller) => ask(parts, operations, inputs, name, input, caller),
    // The registry tells at once, in the middle of a registration; who listens here is told when it is over.
    onToolsChanged: (listener) => parts.visible.onChanged(() => setImmediate(listener)),
  };
}

type InputSchema = (name: OperationName) => CompiledSchema;

/** Each is compiled when its operation is first asked for: all of them together take 100 ms of the start. */
function inputSchemas({ schemas }: Pick<OperationParts, 'schemas'>): InputSchema {
  const compiled = new Map<OperationName, CompiledSchema>();
  return (name) => {
    const known = compiled.get(name);
    if (known !== undefined) return known;
    const schema = schemas.compile({ ...OPERATIONS[name].input });
    if (isFailure(schema)) throw ToolLayerError.of(schema);
    compiled.set(name, schema);
    return schema;
  };
}

async function ask<N extends OperationName>(
  parts: OperationParts,
  operations: Operations,
  inputs: InputSchema,
  name: N,
  input: OperationInput<N>,
  caller: Caller,
): Promise<OperationOutput<N>> {
  try {
    const entry = OPERATIONS[name];
    const { faults } = inputs(name).check(input, { coerce: false });
    if (faults.length > 0) throw new ToolLayerError('E3801', malformed(name, faults), { details: { faults } });
    const asker = name === 'tool.invoke' ? unidentified(parts, caller) : await askerOf(parts, entry, caller);
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
  const sentence = (message: string): string => message.replace(/\.$/, '');
  const shown = faults
    .slice(0, 3)
    .map(({ path, message }) => `${path === '' ? 'the request' : path} ${sentence(message)}`);
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

async function askerOf(parts: OperationParts, entry: OperationEntry, caller: Caller): Promise<Asker | Failure> {
  const { access, method } = entry;
  if (access === 'open' || (caller.local === true && caller.token === undefined)) return localAsker(parts, caller);
  const identity = await parts.identify(caller);
  if (isFailure(identity)) return identity;
  if (access === 'operator' && !identity.principal.roles.some((role) => OPERATORS.includes(role))) {
    return failure(
      'E3213',
      `This operation needs the role ${OPERATORS.join(' or ')}; the token has ${identity.principal.roles.join(', ')}.`,
    );
  }
  const { tenantId, roles } = identity.principal;
  const changes = access === 'operator' && method !== 'GET';
  if (changes && tenantId === parts.catalogTenant && !roles.includes('admin')) {
    return failure(
      'E3213',
      `The tools of ${tenantId} are on offer to every tenant: to change them takes the role admin.`,
    );
  }
  return { ...identity, caller };
}
