import type { EmbeddedToolLayer } from '../../packages/sallyport/src/index.ts';
import { PNG } from './reference/media.ts';

const text = (said: string) => ({ role: 'user', content: { type: 'text', text: said } });
const CITIES = ['paris', 'park', 'party', 'rome'];
const TEXTUAL = { mimeType: 'text/plain' } as const;
const about = (name: string) => ({ name, description: `The prompt ${name} of the public suite.` });

/** Offers the resources and prompts that the public suite reads, as those of the embedding program. */
export async function registerOwnOffers(layer: EmbeddedToolLayer): Promise<void> {
  const content = 'This is the content of the static text resource.';
  await layer.registerResource({ uri: 'test://static-text', name: 'static-text', ...TEXTUAL, read: () => content });
  const pixel = { name: 'static-binary', mimeType: 'image/png', read: () => Buffer.from(PNG, 'base64') };
  await layer.registerResource({ uri: 'test://static-binary', ...pixel });
  await layer.registerResource({
    uri: 'test://watched-resource',
    name: 'watched',
    ...TEXTUAL,
    read: () => 'Watched.',
  });
  await layer.registerResource({
    uriTemplate: 'test://template/{id}/data',
    name: 'template-data',
    mimeType: 'application/json',
    read: (uri) => {
      const id = /template\/(.+)\/data$/.exec(uri)?.[1];
      return JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    },
  });
  await registerOwnPrompts(layer);
}

async function registerOwnPrompts(layer: EmbeddedToolLayer): Promise<void> {
  await layer.registerPrompt({ ...about('test_simple_prompt'), get: () => 'This is a simple prompt for testing.' });
  await layer.registerPrompt({
    ...about('test_prompt_with_arguments'),
    arguments: [
      { name: 'arg1', required: true, complete: (typed) => CITIES.filter((city) => city.startsWith(typed)) },
      { name: 'arg2', required: true },
    ],
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  });
  await layer.registerPrompt({
    ...about('test_prompt_with_embedded_resource'),
    arguments: [{ name: 'resourceUri', required: true }],
    get: ({ resourceUri: uri }) => {
      const resource = { uri, ...TEXTUAL, text: 'Embedded resource content for testing.' };
      return { messages: [{ role: 'user', content: { type: 'resource', resource } }, text('Please process it.')] };
    },
  });
  const image = { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } };
  await layer.registerPrompt({
    ...about('test_prompt_with_image'),
    get: () => ({ messages: [image, text('Please analyze the image above.')] }),
  });
  await layer.registerPrompt({
    ...about('test_input_required_result_prompt'),
    get: async (_given, { client }) => {
      const requestedSchema = { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] };
      const asked = { message: 'What context should the prompt use?', requestedSchema };
      return JSON.stringify(await client.elicit(asked, 'user_context'));
    },
  });
}
