import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { membersIn, type SchemaVerdict, validateOf } from '../../foreign/schemas/standard-schema.ts';
import { refusedBySchema } from '../../foreign/standard-run.ts';
import type { FunctionTool, ImportedTools } from '../../importer.port.ts';
import { SINGLE_ARGUMENT } from './argument-schema.ts';
import { LANGCHAIN_SOURCE, type LangChainOptions, type LangChainTool, langChainTools } from './langchain-importer.ts';
import { resultOf } from './tool-output.ts';

/** Options for turning LangChain's tool objects into tools. */
export interface LangChainFunctionOptions extends LangChainOptions {
  /** RunnableConfig that every call gets (callbacks, tags, configurable, …); signal and metadata of the call are added. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Facts about a call passed to a tool. */
export interface LangChainCall {
  readonly invocationId: string;
  readonly principal: { readonly tenantId: string; readonly agentDid: string };
  readonly signal: AbortSignal;
}

/** Tools with their functions. */
export interface LangChainFunctions extends Pick<ImportedTools, 'source' | 'skipped'> {
  readonly tools: readonly FunctionTool<LangChainCall>[];
}

type Invoke = (input: unknown, config: Record<string, unknown>) => unknown;

/**
 * Turns tool objects of LangChain (or anything with `name`, `description`, `schema` and `invoke` or `call`) into
 * manifests and functions. No library is imported: a tool is recognised by its members. Anything else is listed as
 * skipped.
 *
 * A function passes signal and config on. For a tool with `responseFormat: 'content_and_artifact'` the result is
 * `{content, artifact}`. It throws E3509 for arguments that the tool's own schema refuses, E3109 when the tool answers
 * with an error, E3501 for a result that JSON cannot hold.
 */
export function langChainFunctions(
  objects: readonly unknown[],
  options: LangChainFunctionOptions = {},
): LangChainFunctions {
  const { tools, skipped } = langChainTools(
    objects.map((value) => [undefined, value]),
    options,
  );
  const callable = tools.flatMap((tool) => {
    const invoke = invokeOf(tool.value);
    return invoke === undefined ? [] : [{ manifest: tool.manifest, run: runOf(tool, invoke, options.config) }];
  });
  const mute = tools.filter(({ value }) => invokeOf(value) === undefined);
  return {
    source: options.name ?? LANGCHAIN_SOURCE,
    tools: callable,
    skipped: [
      ...skipped,
      ...mute.map(({ foreign }) => ({ place: foreign.name.slice(0, 200), reason: 'it has neither invoke nor call' })),
    ],
  };
}

function invokeOf(value: unknown): Invoke | undefined {
  const members = membersIn(value);
  const method = members?.['invoke'] ?? members?.['call'];
  return typeof method === 'function' ? (input, config) => method.call(value, input, config) : undefined;
}

function runOf(
  { foreign, single }: LangChainTool,
  invoke: Invoke,
  config: LangChainFunctionOptions['config'],
): FunctionTool<LangChainCall>['run'] {
  return async (parameters, { invocationId, principal, signal }) => {
    const input = single ? parameters[SINGLE_ARGUMENT] : parameters;
    // Only the answer to a whole tool call carries the artifact.
    const asked = foreign.withArtifact
      ? { type: 'tool_call', id: invocationId, name: foreign.name, args: input }
      : input;
    const { tenantId, agentDid } = principal;
    const metadata = {
      ...membersIn(config?.['metadata']),
      invocation_id: invocationId,
      tenant_id: tenantId,
      agent_did: agentDid,
    };
    try {
      return resultOf(await invoke(asked, { ...config, metadata, signal }), foreign);
    } catch (thrown) {
      throw await translated(thrown, foreign.schema, input);
    }
  };
}

/** The tool's refusal of its input names no place, but the schema does. Any other error is the tool's failure. */
async function translated(thrown: unknown, schema: unknown, input: unknown): Promise<unknown> {
  const name = membersIn(thrown)?.['constructor'] as { readonly name?: unknown } | undefined;
  if (thrown instanceof ToolLayerError || name?.name !== 'ToolInputParsingException') return thrown;
  const verdict: SchemaVerdict | undefined = await validateOf(schema)?.(input);
  return refusedBySchema(verdict?.issues ?? [{ message: 'it does not match' }], 'E3509', thrown);
}
