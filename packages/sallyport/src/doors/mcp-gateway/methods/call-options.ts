import { TrustLevel } from '../../../../api/schemas/capability-token.ts';
import { InvocationPhase, type ToolInvokeRequest } from '../../../../api/schemas/invocation.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { metaOf } from '../../mcp-protocol.ts';

/** Phase of the agent's reasoning in which it calls; one of the phases of the contract (PRM-09). */
const META_PHASE = 'sallyport/phase';
/** Origin of the arguments' content, as the caller states it (PRM-08). */
const META_CLAIM_SOURCE = 'sallyport/claim_source';
/** The attempt at answering that the call belongs to (VIS-04). */
const META_TURN_GROUP = 'sallyport/turn_group_id';
/** Variables that the call sets for its tool (EXE-10). */
const META_ENVIRONMENT = 'sallyport/environment';
/** Upper limit of the trust in this call (EXE-10). */
const META_TRUST_LEVEL = 'sallyport/trust_level';
/** Documents that the call brings to its tool, as `document_context` of a call (DOC-05). */
const META_DOCUMENTS = 'sallyport/document_context';
/** The checkpoint of an earlier call that this one continues from (STA-02). */
const META_RESUME = 'sallyport/resume_from_checkpoint_id';
/** `true`: say what would happen to the call and run nothing (PIPE-15). */
const META_DRY_RUN = 'sallyport/dry_run';
/** Offered by a layer whose upstream this one is; nothing is made of it. */
const META_CHECKPOINTS = 'sallyport/checkpoints';
/** Begins the names of all options. */
const PREFIX = 'sallyport/';
/** Characters of an unknown name that are shown. */
const SHOWN_MAX = 64;

/** A call with the options of its `_meta`. */
export interface AskedCall {
  readonly input: ToolInvokeRequest;
  readonly dryRun: boolean;
}

/**
 * The call with the options of its `_meta`, or what is wrong with them: a fault must not turn a dry run into a call.
 */
export function callOptions(input: ToolInvokeRequest, params: Readonly<Record<string, unknown>>): AskedCall | string {
  const meta = metaOf(params);
  const unknown = Object.keys(meta).find((key) => key.startsWith(PREFIX) && !KNOWN.has(key));
  if (unknown !== undefined)
    return `_meta.${unknown.slice(0, SHOWN_MAX)} is no option of a call. Known are: ${NAMED.join(', ')}.`;
  const dryRun = meta[META_DRY_RUN];
  const documents = meta[META_DOCUMENTS];
  const resume = meta[META_RESUME];
  const said = OPTIONS.filter(({ key }) => meta[key] !== undefined);
  // Fast path: a client that uses no options.
  const isPlain = dryRun === undefined && documents === undefined && resume === undefined;
  if (isPlain && said.length === 0) return { input, dryRun: false };
  if (dryRun !== undefined && typeof dryRun !== 'boolean') return `_meta.${META_DRY_RUN} must be true or false.`;
  if (documents !== undefined && !isObject(documents)) return `_meta.${META_DOCUMENTS} must be an object.`;
  if (resume !== undefined && !isText(resume)) return `_meta.${META_RESUME} must be a text.`;
  const fault = said.find(({ key, fits }) => !fits(meta[key]));
  if (fault !== undefined) return `_meta.${fault.key} must be ${fault.must}.`;
  const options = {
    ...input.execution_options,
    ...Object.fromEntries(said.map(({ key, option }) => [option, meta[key]])),
  };
  // Their members are checked by the operation's schema.
  const more = {
    ...(documents === undefined ? {} : { document_context: documents }),
    ...(resume === undefined ? {} : { checkpoint_config: { resume_from_checkpoint_id: resume } }),
  };
  return { input: { ...input, ...more, execution_options: options }, dryRun: dryRun === true };
}

/** One option that `_meta` may hold. The operation's schema validates its value. */
interface MetaOption {
  readonly key: string;
  readonly option: keyof NonNullable<ToolInvokeRequest['execution_options']>;
  readonly fits: (value: unknown) => boolean;
  readonly must: string;
}

const oneOf =
  (words: readonly string[]) =>
  (value: unknown): boolean =>
    words.some((word) => word === value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isText);

const OPTIONS: readonly MetaOption[] = [
  {
    key: META_PHASE,
    option: 'phase',
    fits: oneOf(InvocationPhase.enum),
    must: `one of ${InvocationPhase.enum.join(', ')}`,
  },
  { key: META_CLAIM_SOURCE, option: 'claim_source', fits: isText, must: 'a text' },
  { key: META_TURN_GROUP, option: 'turn_group_id', fits: isText, must: 'a text' },
  { key: META_ENVIRONMENT, option: 'environment', fits: isTexts, must: 'an object with texts' },
  {
    key: META_TRUST_LEVEL,
    option: 'trust_level',
    fits: oneOf(TrustLevel.enum),
    must: `one of ${TrustLevel.enum.join(', ')}`,
  },
];

const NAMED = [...OPTIONS.map(({ key }) => key), META_DOCUMENTS, META_RESUME, META_DRY_RUN];
const KNOWN: ReadonlySet<string> = new Set([...NAMED, META_CHECKPOINTS]);
