import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { PNG } from './media.ts';

/** Resource that the suite subscribes to. */
const WATCHED = 'test://watched-resource';

/** Registers the resources and the template that the suite reads. */
export function registerResources(server: McpServer): void {
  const textual = { mimeType: 'text/plain' };
  const about = (description: string) => ({ description, ...textual });
  server.registerResource('static-text', 'test://static-text', about('A text that never changes.'), ({ href }) => ({
    contents: [{ uri: href, ...textual, text: 'This is the content of the static text resource.' }],
  }));
  const image = { description: 'An image that never changes.', mimeType: 'image/png' };
  server.registerResource('static-binary', 'test://static-binary', image, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  server.registerResource('watched', WATCHED, about('A text that may be watched.'), ({ href }) => ({
    contents: [{ uri: href, ...textual, text: 'Watched.' }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const json = { description: 'Data by its id.', mimeType: 'application/json' };
  server.registerResource('template-data', template, json, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify(dataOf(String(id))) }],
  }));
}

/** Accepts subscriptions of sessions; they end with the process. */
export function acceptSubscriptions({ server }: McpServer): void {
  const watched = new Set<string>();
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
}

const dataOf = (id: string) => ({ id, templateTest: true, data: `Data for ID: ${id}` });
