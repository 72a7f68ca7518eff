import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import { SkillPackage } from '../../registry/skill-package.ts';
import { wireCheck } from '../../registry/wire-faults.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';

const configFaults = wireCheck(SkillPackage, 'E3008', '/executor/config');

/**
 * Owns tools of kind `skill`, so that they can be registered, found and read; running them is not built yet, so every
 * call is refused with E3901 before anything happens.
 */
export function createSkillExecutor(): Executor {
  const refuse = ({ tool }: ExecutorCall): Promise<ExecutorOutcome> => Promise.reject(notYet(tool.manifest));
  return {
    kind: 'skill',
    owns: ({ manifest }) => manifest.executor.kind === 'skill',
    requiresConfirmation: () => false,
    definitions: () => [],
    configFaults: ({ executor }) => configFaults(executor.config ?? {}),
    isRetryable: () => false,
    execute: refuse,
    executeConfirmed: refuse,
  };
}

const notYet = ({ tool_id }: ToolManifest): ToolLayerError =>
  new ToolLayerError(
    'E3901',
    `${tool_id} is a skill, and this layer does not run skills yet. Read its instructions with: sallyport tools show ${tool_id}`,
    { details: { tool_id, kind: 'skill' } },
  );
