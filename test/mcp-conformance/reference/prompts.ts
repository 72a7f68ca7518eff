import { completable, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { PNG } from './media.ts';

const text = (said: string) => ({ role: 'user', content: { type: 'text', text: said } }) as const;
const CITIES = ['paris', 'park', 'party', 'rome'];

/** Registers the prompts that the suite gets and completes. */
export function registerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments.' }, () => ({
    messages: [text('This is a simple prompt for testing.')],
  }));
  const arg1 = completable(z.string().describe('The first argument.'), (typed = '') =>
    CITIES.filter((city) => city.startsWith(typed)),
  );
  const argsSchema = z.object({ arg1, arg2: z.string().describe('The second argument.') });
  const withArguments = { description: 'A prompt with two arguments.', argsSchema };
  server.registerPrompt('test_prompt_with_arguments', withArguments, (given) => ({
    messages: [text(`Prompt with arguments: arg1='${given.arg1}', arg2='${given.arg2}'`)],
  }));
  const resourceUri = z.string().describe('The URI of the resource.');
  const embedding = { description: 'A prompt with a resource.', argsSchema: z.object({ resourceUri }) };
  server.registerPrompt('test_prompt_with_embedded_resource', embedding, (given) => ({
    messages: [resource(given.resourceUri), text('Please process the embedded resource above.')],
  }));
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image.' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      text('Please analyze the image above.'),
    ],
  }));
}

function resource(uri: string) {
  const said = 'Embedded resource content for testing.';
  return {
    role: 'user',
    content: { type: 'resource', resource: { uri, mimeType: 'text/plain', text: said } },
  } as const;
}
