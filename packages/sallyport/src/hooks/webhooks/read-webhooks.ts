import { readSmallText } from '@sallyport/std/files/read-small-text';
import { type Static, Type } from 'typebox';
import { InvocationPhase } from '../../../api/schemas/invocation.ts';
import { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import { type FileFault, fileFault, parseTomlAs } from '../../domain/settings/toml-file.ts';
import type { WebhookSettings } from './settings.ts';

const Webhook = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    at: Type.Enum(['before', 'after']),
    url: Type.String({ pattern: '^https?://' }),
    secret: Type.String({ minLength: 1 }),
    tools: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    side_effects: Type.Optional(Type.Array(SideEffectPolicy)),
    phases: Type.Optional(Type.Array(InvocationPhase)),
    timeout_ms: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    on_failure: Type.Optional(Type.Enum(['refuse', 'continue'])),
    signed_answers: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
const Webhooks = Type.Object({ webhook: Type.Optional(Type.Array(Webhook)) }, { additionalProperties: false });

/**
 * Reads the `[[webhook]]` tables of a file, in their order.
 * @returns none when there is no such file
 * @throws ToolLayerError E3801 naming the file and every fault in it
 */
export async function readWebhooks(path: string): Promise<readonly WebhookSettings[]> {
  const fault = fileFault('file of webhooks', path);
  const text = await readSmallText(path, fault);
  const { webhook = [] } = text === undefined ? {} : parseTomlAs(text, Webhooks, fault);
  return webhook.map((each) => settingsOf(each, fault));
}

function settingsOf(given: Static<typeof Webhook>, fault: FileFault): WebhookSettings {
  const { id, at, url, secret, tools, side_effects, phases, timeout_ms, on_failure, signed_answers } = given;
  if (!URL.canParse(url)) throw fault(`names an address for ${id} that is none`);
  return {
    id,
    at,
    url,
    secret,
    match: {
      ...(tools === undefined ? {} : { tools }),
      ...(side_effects === undefined ? {} : { sideEffects: side_effects }),
      ...(phases === undefined ? {} : { phases }),
    },
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    ...(on_failure === undefined ? {} : { failOpen: on_failure === 'continue' }),
    ...(signed_answers === undefined ? {} : { signedAnswers: signed_answers }),
  };
}
