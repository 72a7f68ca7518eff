import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ACCOUNT, BY_CAPABILITY, CONTEXT, complete, ROUNDS } from './questions.ts';

type Request = ServerContext['mcpReq'];
type Answers = Readonly<Record<string, unknown>>;

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });

/**
 * Registers the tools and the prompt that ask their client. Each is written as rounds of 2026-07-28; the SDK asks a
 * client of 2025-11-25 the same in a request of its own.
 */
export function registerAsking(server: McpServer): void {
  for (const [name, rounds] of Object.entries(ROUNDS)) {
    server.registerTool(name, { description: `Does ${name}.` }, ({ mcpReq }) => roundOf(rounds, mcpReq));
  }
  const sampling = { description: 'Asks the language model.', inputSchema: z.object({ prompt: z.string() }) };
  server.registerTool('test_sampling', sampling, ({ prompt }, { mcpReq }) =>
    once({ completion: complete(prompt) }, mcpReq, ({ completion }) => `LLM response: ${JSON.stringify(completion)}`),
  );
  const elicitation = { description: 'Asks the user.', inputSchema: z.object({ message: z.string() }) };
  server.registerTool('test_elicitation', elicitation, ({ message }, { mcpReq }) => once(ACCOUNT(message), mcpReq));
  const capable = { description: 'Asks what the client can answer.' };
  server.registerTool('test_input_required_result_capabilities', capable, ({ mcpReq }) =>
    once(answerable(mcpReq), mcpReq),
  );
  const prompt = { description: 'A prompt that asks for its context.' };
  server.registerPrompt('test_input_required_result_prompt', prompt, ({ mcpReq }) =>
    mcpReq.inputResponses?.['user_context'] === undefined
      ? inputRequired({ inputRequests: CONTEXT })
      : { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(mcpReq.inputResponses) } }] },
  );
}

/** One round of questions, then the answers. What is missing of them is asked again. */
export function once(
  asked: InputRequests,
  { inputResponses = {} }: Request,
  say: (answers: Answers) => string = (answers) => JSON.stringify(answers),
): CallToolResult | InputRequiredResult {
  const isAnswered = Object.keys(asked).every((key) => inputResponses[key] !== undefined);
  return isAnswered ? text(say(inputResponses)) : inputRequired({ inputRequests: asked });
}

/** Rounds of questions; the state says which round it is, and what was answered before. */
function roundOf(rounds: readonly InputRequests[], request: Request): CallToolResult | InputRequiredResult {
  const before = JSON.parse(request.requestState<string>() ?? '[]') as readonly Answers[];
  const asked = rounds[before.length] ?? {};
  const answers = request.inputResponses ?? {};
  const isAnswered = Object.keys(asked).every((key) => answers[key] !== undefined);
  const known = isAnswered ? [...before, answers] : before;
  const next = rounds[known.length];
  if (next === undefined) return text(`state-ok ${JSON.stringify(known)}`);
  return inputRequired({ inputRequests: next, requestState: JSON.stringify(known) });
}

function answerable({ envelope }: Request): InputRequests {
  const can = (envelope as Record<string, ClientCapabilities> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
  const kinds = (['elicitation', 'sampling'] as const).filter((kind) => can === undefined || can[kind] !== undefined);
  return Object.assign({}, ...kinds.map((kind) => BY_CAPABILITY[kind]));
}
