import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Fault } from '../../../api/schemas/error.ts';
import type { IsolationLevel, ToolManifest } from '../../../api/schemas/tool-manifest.ts';

/** The isolation that a manifest demands beyond what a function of the embedding program has; undefined for none. */
function demanded({ execution_config }: ToolManifest): IsolationLevel | undefined {
  const level = execution_config?.isolation;
  return level === 'none' ? undefined : level;
}

/** The fault of a manifest that demands isolation for a function that would run in this process. */
export function isolationFaults(manifest: ToolManifest): readonly Fault[] {
  const level = demanded(manifest);
  if (level === undefined) return [];
  return [
    {
      path: '/execution_config/isolation',
      code: 'E3008',
      keyword: 'isolation',
      message: `asks for ${level}, but a function of the embedding program runs in its process, with no isolation`,
      hint: 'Leave it out, or write none; or give the function as a module (executor.config.module), which runs in a sandbox.',
    },
  ];
}

/** As above, for a manifest that an earlier release registered. */
export function isolationError(manifest: ToolManifest): ToolLayerError | undefined {
  const level = demanded(manifest);
  if (level === undefined) return undefined;
  return new ToolLayerError(
    'E3101',
    `${manifest.tool_id} asks for the isolation ${level}, but its function would run in the process of the layer. Register a version without that demand, or as a module.`,
    { details: { isolation: level } },
  );
}
