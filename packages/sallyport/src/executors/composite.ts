import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Fault } from '../../api/schemas/error.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import { callVariableFaults } from './call-environment.ts';
import type { Executor } from './executor.port.ts';

/** Several executors as one: each call goes to the executor that owns the tool (EXE-01). It has no kind of its own. */
export interface CompositeExecutor extends Omit<Executor, 'kind' | 'takesVariables'> {
  /** The executors in the order in which they are asked. */
  readonly chain: readonly Executor[];
  /** The first executor that owns the tool; else E3901 naming the available kinds, or the machine's refusal. */
  executorOf(tool: ToolVersion): Executor | Failure;
}

/** The reason why a tool cannot run on this machine; undefined when it can. */
type Refusal = (tool: ToolVersion) => Failure | undefined;

/**
 * Puts executors into a chain; the first that owns a tool runs it. A tool without an owner is refused with E3901; it is
 * never tried, needs no confirmation of its own and is not retryable.
 * @param chain in the order in which they are asked; two of one kind are allowed
 * @param refusal asked before the owner is looked up
 */
export function createCompositeExecutor(
  chain: readonly Executor[],
  refusal: Refusal = () => undefined,
): CompositeExecutor {
  const executors = [...chain];
  const kinds = [...new Set(executors.map(({ kind }) => kind))].join(', ') || 'none';

  const ownerOf = (tool: ToolVersion): Executor | undefined => {
    for (const executor of executors) if (executor.owns(tool)) return executor;
    return undefined;
  };
  const executorOf = (tool: ToolVersion): Executor | Failure =>
    refusal(tool) ?? ownerOf(tool) ?? nobody(tool.manifest, kinds);
  const ownerOrThrow = (tool: ToolVersion): Executor => {
    const owner = executorOf(tool);
    if (isFailure(owner)) throw ToolLayerError.of(owner);
    return owner;
  };
  return {
    chain: executors,
    executorOf,
    owns: (tool) => ownerOf(tool) !== undefined,
    requiresConfirmation: (call) => ownerOf(call.tool)?.requiresConfirmation(call),
    screen: (tool, parameters) => ownerOf(tool)?.screen?.(tool, parameters),
    configFaults: (manifest) => configFaults(executors, manifest, kinds),
    isRetryable: (tool) => ownerOf(tool)?.isRetryable(tool) ?? false,
    execute: async (call, signal) => ownerOrThrow(call.tool).execute(call, signal),
    executeConfirmed: async (call, signal) => ownerOrThrow(call.tool).executeConfirmed(call, signal),
  };
}

const nobody = ({ tool_id, executor }: ToolManifest, kinds: string): Failure =>
  failure(
    'E3901',
    `No executor of this layer runs ${tool_id} of kind ${executor.kind}. Kinds that it runs: ${kinds}.`,
    {
      details: { tool_id, kind: executor.kind },
    },
  );

/**
 * Faults found by the first executor of the kind: ownership needs a registered tool, and this one is not registered
 * yet.
 */
function configFaults(executors: readonly Executor[], manifest: ToolManifest, kinds: string): readonly Fault[] {
  const judge = executors.find(({ kind }) => kind === manifest.executor.kind);
  if (judge !== undefined) return [...judge.configFaults(manifest), ...callVariableFaults(judge, manifest)];
  const message = `no executor of this layer is of kind ${manifest.executor.kind}`;
  return [{ path: '/executor/kind', code: 'E3008', keyword: 'kind', message, hint: `Kinds that it runs: ${kinds}.` }];
}
