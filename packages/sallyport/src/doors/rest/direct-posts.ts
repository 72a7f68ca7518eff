// Hot path: requests for tool calls are recognised here, before the router (docs/adr/0019).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Answers one request whole, refusals included. */
export type DirectAnswer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * POST requests to an exact address, with a JSON body, that are answered outside the framework: its routing and its
 * objects cost a call more than reading the body. Every such address also has a normal route with the same answer, for
 * requests spelled differently.
 */
export interface DirectPosts {
  /** @param path as a request line holds it, without a query */
  add(path: string, answer: DirectAnswer): void;
}

/** The usual spellings of the JSON type: JSON is always UTF-8 (RFC 8259 §8.1). Other spellings go to the framework. */
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

const isJson = (type: string | undefined): boolean =>
  type === 'application/json' || (type !== undefined && JSON_TYPE.test(type));

/**
 * Takes its requests before the framework sees them.
 * @param admit called first for every request; false when it has answered the request itself
 * @param passes the framework's first checks; requests that fail go to the framework, which reports why
 */
export function createDirectPosts(
  app: FastifyInstance,
  admit: (request: IncomingMessage, response: ServerResponse) => boolean,
  passes: (request: IncomingMessage) => boolean,
): DirectPosts {
  const answers = new Map<string | undefined, DirectAnswer>();
  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => {
    if (!admit(request, response)) return;
    const answer = request.method === 'POST' ? answers.get(request.url) : undefined;
    if (answer === undefined || !isJson(request.headers['content-type']) || !passes(request)) {
      app.routing(request, response);
      return;
    }
    // When an answer fails unexpectedly, nothing of its request may stay open.
    answer(request, response).catch(() => request.destroy());
  });
  return { add: (path, answer) => void answers.set(path, answer) };
}
