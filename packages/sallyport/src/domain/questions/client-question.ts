/** What the client of a running call can be asked in the middle of it (MCP). */
export const QUESTION_KINDS = ['elicitation', 'sampling', 'roots'] as const;
/** One kind of question; each is named as the client's capability for it. */
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** The request of MCP by which a client is asked. */
export const QUESTION_METHODS = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const satisfies Readonly<Record<QuestionKind, string>>;

/** The kind of question that a method asks; undefined for any other method. */
export function kindOfMethod(method: unknown): QuestionKind | undefined {
  return QUESTION_KINDS.find((kind) => QUESTION_METHODS[kind] === method);
}

type Members = Readonly<Record<string, unknown>>;

/** Values for a form; `requestedSchema` is the flat JSON Schema of an object, as the asker wrote it. */
export interface FormQuestion {
  readonly kind: 'elicitation';
  readonly mode: 'form';
  /** At most 4 000 characters. */
  readonly message: string;
  readonly requestedSchema: Members;
}

/** An address that the person should open. */
export interface UrlQuestion {
  readonly kind: 'elicitation';
  readonly mode: 'url';
  /** At most 4 000 characters. */
  readonly message: string;
  readonly url: string;
  /** Names it for `ClientAsker.completed`; absent: nobody says when the person is done there. */
  readonly elicitationId?: string;
}

/** A completion by the client's language model; `request` holds known parameters of `sampling/createMessage` alone. */
export interface SamplingQuestion {
  readonly kind: 'sampling';
  readonly request: Members;
}

/** True when a request for a completion needs a client that lets the model use tools (`sampling.tools`). */
export const usesTools = ({ tools, toolChoice }: Members): boolean => tools !== undefined || toolChoice !== undefined;

/** The folders that the client offers. */
export interface RootsQuestion {
  readonly kind: 'roots';
}

/** What is asked. Everything in it is untrusted. */
export type Asked = FormQuestion | UrlQuestion | SamplingQuestion | RootsQuestion;

/** Who asks: an upstream, a function of the embedding program, or the layer itself for a login at the named upstream. */
export interface QuestionAuthor {
  readonly kind: 'server' | 'tool' | 'layer';
  readonly name: string;
}

/** A question to the client of a running call. */
export interface ClientQuestion {
  readonly tenantId: string;
  readonly author: QuestionAuthor;
  /**
   * Running calls that the question may belong to, all of one client, newest first; where each call has its own stream,
   * the newest is asked.
   */
  readonly invocationIds: readonly string[];
  readonly asked: Asked;
  /** The author's own name for the question, which clients of 2026-07-28 see; absent: one is made. */
  readonly key?: string | undefined;
  /** Wraps the wait for the client: the call holds no slot of its agent meanwhile. */
  whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
}

/**
 * The client's answer: `result` is that of the method and fits the question. `unasked` gives the reason why the client
 * was not asked, or gave no usable answer; `ended` the reason why the wait for it ended.
 */
export type ClientAnswer = { readonly result: Members } | { readonly unasked: string } | { readonly ended: string };

/** A client that can be asked something. */
export interface AskedClient {
  /** Identifies the client's session; absent for a request without one. */
  readonly session?: string;
  /** The kinds of questions that it can answer, as MCP's capabilities of a client. */
  readonly can: Members;
}

/** Puts questions to the client whose call caused them, and to no other. */
export interface ClientAsker {
  /**
   * May answer late or never: `signal` is aborted when the answer is no longer needed, because the call ended, the
   * server withdrew its question, or the connection is gone.
   */
  ask(question: ClientQuestion, signal: AbortSignal): Promise<ClientAnswer>;
  /** The client that a call runs for; undefined when nobody can be asked there. Synchronous. */
  clientOf(tenantId: string, invocationId: string): AskedClient | undefined;
  /** The person is done at an address: the client that was asked to open it is notified, and no other. */
  completed(elicitationId: string): void;
}
