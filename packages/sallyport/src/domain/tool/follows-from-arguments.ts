import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';

/**
 * True when a tool claims that its result follows from the arguments alone (PIPE-10). Another version of a document and another
 * context of a session are other inputs, which no hash of the arguments tells apart.
 * @param documents undefined for a call without documents
 */
export const followsFromArguments = (
  { deterministic, execution_config }: Pick<ToolManifest, 'deterministic' | 'execution_config'>,
  documents: readonly unknown[] | undefined,
): boolean => deterministic === true && execution_config?.session_context !== true && documents === undefined;
