import { errorBody } from '@sallyport/std/error/failure';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Registration } from '../../../api/schemas/registry.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { NativeCallContext, NativeExecutor, NativeFunction } from '../../executors/native/native-executor.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import type { LangChainFunctionOptions } from '../../registry/importers/langchain/langchain-functions.ts';
import type { FunctionDefinition, FunctionInput } from '../../registry/importers/native/native-importer.ts';

export type { LangChainFunctionOptions } from '../../registry/importers/langchain/langchain-functions.ts';
export type { FunctionDefinition, FunctionInput } from '../../registry/importers/native/native-importer.ts';

/** The result for a list of LangChain tools. */
export interface LangChainRegistrations {
  /** Prefix of the tool ids. */
  readonly source: string;
  /** In the order of the list; a refused tool has its error and does not keep the others out. */
  readonly registrations: readonly Registration[];
  readonly skipped: readonly { readonly place: string; readonly reason: string }[];
}

/** Functions of the embedding program as tools of kind `native`; they run in process, without isolation. */
export interface FunctionTools {
  /**
   * Registers a function with a whole manifest.
   * @throws ToolLayerError E3008 for a faulty manifest, E3007 when the version has another content or a function
   *   already
   */
  registerFunction(manifest: ToolManifest, run: NativeFunction): Promise<Registration>;
  /**
   * Registers a function by name, description and schemas: TypeBox, zod 3 or 4, any Standard Schema, or JSON Schema. A
   * library's schema also validates each call, and the function gets the arguments as that schema parsed them; a call
   * ends with E3509 for arguments and E3501 for results that it refuses.
   * @throws ToolLayerError E3008 also for a schema that gives no JSON Schema; it says what to pass instead
   */
  registerFunction<Input, Output>(
    definition: FunctionDefinition<Input, Output>,
    run: (input: FunctionInput<Input>, context: NativeCallContext) => unknown,
  ): Promise<Registration>;
  /**
   * Binds a function to a registered tool, such as one of an import.
   * @param range version or SemVer range; the newest release when absent
   * @returns a handle that unbinds the function when disposed
   * @throws ToolLayerError E3001, E3002, E3004 or E3006 when there is no such tool, E3007 when it has a function
   *   already, E3901 when it is not of kind `native`
   */
  bindFunction(toolId: string, run: NativeFunction, range?: string): Promise<Disposable>;
  /**
   * Registers LangChain's tool objects (anything with `name`, `description`, `schema` and `invoke` or `call`) and binds
   * them. Objects that are no tools are listed as skipped.
   */
  registerLangChainTools(
    tools: readonly unknown[],
    options?: LangChainFunctionOptions,
  ): Promise<LangChainRegistrations>;
}

/**
 * Connects a layer with the executor that holds the functions.
 * @param added called after a function was added
 */
export function functionTools(
  layer: ToolLayer,
  native: NativeExecutor,
  caller: Caller,
  added: () => void,
): FunctionTools {
  const register = async (manifest: ToolManifest, run: NativeFunction): Promise<Registration> => {
    const registered = await layer.ask('tools.register', { manifest: { ...manifest } }, caller);
    native.register(manifest.tool_id, manifest.version, run, registered.content_hash);
    added();
    return registered;
  };
  const registerOrRefuse = async (manifest: ToolManifest, run: NativeFunction): Promise<Registration> => {
    try {
      return await register(manifest, run);
    } catch (thrown) {
      const { tool_id, version } = manifest;
      return { tool_id, version, outcome: 'refused', warnings: [], error: { ...errorBody(failureOf(thrown)) } };
    }
  };
  const registeredAmong = async (toolIds: Iterable<string>): Promise<ReadonlySet<string>> => {
    const found = new Set<string>();
    for (const tool_id of toolIds) {
      const is = await layer.ask('tools.get', { tool_id }, caller).then(
        () => true,
        () => false,
      );
      if (is) found.add(tool_id);
    }
    return found;
  };
  return {
    async registerFunction(
      given: ToolManifest | FunctionDefinition,
      run: (input: never, context: NativeCallContext) => unknown,
    ) {
      if ('tool_id' in given) return register(given, run as NativeFunction);
      const { nativeTool } = await import('../../registry/importers/native/native-importer.ts');
      const tool = nativeTool<unknown, unknown, NativeCallContext>(given, run as NativeFunction);
      return register(tool.manifest, tool.run);
    },
    async bindFunction(toolId, run, range) {
      const version = range === undefined ? {} : { version: range };
      const { manifest, content_hash } = await layer.ask('tools.get', { tool_id: toolId, ...version }, caller);
      if (manifest.executor.kind !== 'native') throw notNative(manifest);
      const bound = native.register(manifest.tool_id, manifest.version, run, content_hash);
      added();
      return bound;
    },
    async registerLangChainTools(objects, options = {}) {
      const { langChainFunctions } = await import('../../registry/importers/langchain/langchain-functions.ts');
      const long = new Set<string>();
      const note = (toolId: string): boolean => {
        long.add(toolId);
        return false;
      };
      langChainFunctions(objects, { ...options, isRegistered: note });
      const registered = await registeredAmong(long);
      const { source, tools, skipped } = langChainFunctions(objects, {
        ...options,
        isRegistered: (toolId) => registered.has(toolId),
      });
      const registrations: Registration[] = [];
      for (const { manifest, run } of tools) registrations.push(await registerOrRefuse(manifest, run));
      return { source, registrations, skipped };
    },
  };
}

const notNative = ({ tool_id, executor }: ToolManifest): ToolLayerError =>
  new ToolLayerError(
    'E3901',
    `${tool_id} is of kind ${executor.kind}; only a tool of kind native is run by a function.`,
  );
