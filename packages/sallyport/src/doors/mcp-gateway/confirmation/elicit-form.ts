import { KiB } from '@sallyport/std/bytes';
import { visibleLine, visibleText } from '@sallyport/std/text/visible-text';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Params } from '../../json-rpc.ts';
import type { Peer } from '../../mcp-server.ts';
import type { Confirmer, ShownQuestion } from '../client-confirmations.port.ts';

const NAME_CHARACTERS_MAX = 255;
const PROMPT_CHARACTERS_MAX = 2 * KiB;
const ARGUMENTS_CHARACTERS_MAX = 4 * KiB;

const BECAUSE: Readonly<Record<ShownQuestion['reason'], string>> = {
  requires_approval: 'The tool runs with an approval only.',
  require_approval: 'The call asks for an approval.',
  requires_confirmation: 'The tool runs with a confirmation only.',
  policy: 'A policy asks for a confirmation.',
  trust: 'What the tool may leave behind is beyond the trust in the agent and the source of the tool.',
  executor: 'What the call would do is for a person to decide.',
};

/**
 * True when this client can put questions in the given mode. An empty capability means forms (2025-11-25, elicitation
 * capabilities).
 */
export function elicits({ can }: Pick<Peer, 'can'>, mode: 'form' | 'url'): boolean {
  const stated = can?.['elicitation'];
  if (!isObject(stated)) return false;
  return isObject(stated[mode]) || (mode === 'form' && stated['url'] === undefined);
}

/** Parameters of `elicitation/create`: what would run, why the user is asked, and one unticked box. */
export function formFor(shown: ShownQuestion, { agentDid }: Confirmer): Params {
  const { toolId, toolVersion, reason, question, prompt, argumentsText } = shown;
  const message = [
    `${visibleLine(agentDid, NAME_CHARACTERS_MAX)} wants to run ${visibleLine(toolId, NAME_CHARACTERS_MAX)} ${visibleLine(toolVersion, NAME_CHARACTERS_MAX)}.`,
    BECAUSE[reason],
    ...(question === undefined ? [] : [visibleLine(question, PROMPT_CHARACTERS_MAX)]),
    ...(prompt === undefined ? [] : [`The tool says: ${visibleText(prompt, PROMPT_CHARACTERS_MAX)}`]),
    ...(argumentsText === undefined
      ? ['Its arguments are not shown here.']
      : [`Arguments: ${visibleText(argumentsText, ARGUMENTS_CHARACTERS_MAX)}`]),
  ].join('\n');
  const confirm = { type: 'boolean', title: 'Run it', description: 'Yes, this call and no other.', default: false };
  return { message, requestedSchema: { type: 'object', properties: { confirm }, required: ['confirm'] } };
}

/** The user's answer: `none` when they closed the question, and for anything that is not an answer. */
export function answerOf(result: unknown): 'yes' | 'no' | 'none' {
  if (!isObject(result)) return 'none';
  if (result['action'] === 'decline') return 'no';
  if (result['action'] !== 'accept' || !isObject(result['content'])) return 'none';
  const { confirm } = result['content'];
  // A form without a clear answer neither approves nor denies.
  if (typeof confirm !== 'boolean') return 'none';
  return confirm ? 'yes' : 'no';
}
