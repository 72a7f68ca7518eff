import { isObject } from '../../domain/shape/is-object.ts';

/** Members of an object of MCP. */
export type Members = Readonly<Record<string, unknown>>;

/** The content of a resource: a text, bytes, or contents as MCP has them. */
export type ResourceAnswer = string | Uint8Array | { readonly contents: readonly Members[] };
/** The messages of a prompt: one text of the user, or messages as MCP has them. */
export type PromptAnswer = string | { readonly messages: readonly Members[]; readonly description?: string };

/** Contents as MCP has them. */
export function contentsOf(answer: ResourceAnswer, uri: string, mimeType: string | undefined): readonly Members[] {
  const type = mimeType === undefined ? {} : { mimeType };
  if (typeof answer === 'string') return [{ uri, ...type, text: answer }];
  if (answer instanceof Uint8Array) return [{ uri, ...type, blob: Buffer.from(answer).toString('base64') }];
  return answer.contents;
}

/** The result of a prompt as MCP has it. */
export function messagesOf(answer: PromptAnswer, description: string | undefined): Members {
  const about = description === undefined ? {} : { description };
  if (isObject(answer)) return { ...about, ...answer };
  return { ...about, messages: [{ role: 'user', content: { type: 'text', text: answer } }] };
}
