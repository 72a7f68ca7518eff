import { readFile } from 'node:fs/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse } from 'smol-toml';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { InvocationPhase } from '../../../api/schemas/invocation.ts';
import { SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import type { WebhookSettings } from './settings.ts';

/** Characters of a file. */
const TEXT_MAX = 256 * KiB;

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
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw faulty(path, 'cannot be read', cause);
  }
  if (text.length > TEXT_MAX) throw faulty(path, `has more than ${TEXT_MAX} characters`);
  let values: unknown;
  try {
    values = parse(text);
  } catch (cause) {
    throw faulty(path, 'is not TOML', cause);
  }
  const schema = Compile(Webhooks);
  const faults = schema.Errors(values).map(({ instancePath, message }) => `${instancePath} ${message}`);
  if (faults.length > 0) throw faulty(path, `has faults: ${faults.slice(0, 5).join('; ')}`);
  return ((values as Static<typeof Webhooks>).webhook ?? []).map((each) => settingsOf(each, path));
}

function settingsOf(given: Static<typeof Webhook>, path: string): WebhookSettings {
  const { id, at, url, secret, tools, side_effects, phases, timeout_ms, on_failure, signed_answers } = given;
  if (!URL.canParse(url)) throw faulty(path, `names an address for ${id} that is none`);
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

const faulty = (path: string, what: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3801', `The file of webhooks ${path} ${what}.`, { cause });
