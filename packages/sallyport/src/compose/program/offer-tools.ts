import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { SERVER_METHODS, type ServerMethod } from '../../domain/tool/server-methods.ts';
import { programToolId } from '../../domain/tool/server-tool.ts';
import type {
  OfferedResource,
  ProgramOffers,
  ProgramPrompt,
  ProgramResource,
  ProgramTemplate,
} from '../../executors/native/program-offers.ts';
import { methodTools } from '../../mcp-servers/connection/listing/method-tools.ts';

export type { PromptAnswer, ResourceAnswer } from '../../executors/native/offer-answers.ts';
export type {
  Complete,
  OfferedResource,
  ProgramPrompt,
  ProgramResource,
  ProgramTemplate,
  PromptArgument,
} from '../../executors/native/program-offers.ts';

/**
 * Resources and prompts of the embedding program, offered to MCP clients beside those of upstreams. Reading, getting and
 * completing are calls of the tools `program__resources-read`, `program__prompts-get` and `program__completion-complete`:
 * a token has to grant them, policies judge them, and each is recorded.
 */
export interface OfferTools {
  /** @throws ToolLayerError E3007 when the URI or template is offered already */
  registerResource(resource: ProgramResource | ProgramTemplate): Promise<OfferedResource>;
  /** @throws ToolLayerError E3007 when there is a prompt of this name already, E3801 for a name with `__` */
  registerPrompt(prompt: ProgramPrompt): Promise<Disposable>;
}

/** Connects the program's offers with the functions by which they are used; each is registered once it is needed. */
export function offerTools(
  offers: ProgramOffers,
  registerFunction: (manifest: ToolManifest, run: ReturnType<ProgramOffers['answer']>) => Promise<unknown>,
): OfferTools {
  const registered = new Map<ServerMethod, Promise<unknown>>();
  const need = async (...methods: readonly ServerMethod[]): Promise<void> => {
    for (const method of methods) {
      const registering = registered.get(method) ?? registerFunction(manifestOf(method), offers.answer(method));
      registered.set(method, registering);
      registering.catch(() => registered.delete(method));
      await registering;
    }
  };
  return {
    async registerResource(resource) {
      await need('resources/read', ...completion('uriTemplate' in resource));
      return offers.addResource(resource);
    },
    async registerPrompt(prompt) {
      await need('prompts/get', ...completion(prompt.arguments !== undefined));
      return offers.addPrompt(prompt);
    },
  };
}

const completion = (isNeeded: boolean): readonly ServerMethod[] => (isNeeded ? ['completion/complete'] : []);

const TOOLS = methodTools({ resources: {}, prompts: {}, completions: {} });

function manifestOf(method: ServerMethod): ToolManifest {
  const { title, description, inputSchema } = TOOLS[SERVER_METHODS.indexOf(method)] ?? {};
  return {
    tool_id: programToolId(method),
    tool_name: String(title),
    version: '1.0.0',
    description: String(description).replace('this MCP server', 'this program'),
    side_effect_policy: 'pure',
    parameters_schema: inputSchema as ToolManifest['parameters_schema'],
    executor: { kind: 'native' },
  };
}
