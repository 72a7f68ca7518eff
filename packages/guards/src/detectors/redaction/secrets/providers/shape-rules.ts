import type { RedactionKind } from '../../kinds.ts';

/** A secret recognised by its whole form. */
export interface ShapeRule {
  readonly rule: string;
  readonly kind: RedactionKind;
  /** Text that every match contains: otherwise the pattern is skipped. */
  readonly has: string;
  /** Shorter texts hold none, in characters. */
  readonly charsMin?: number;
  /** Matches whole secrets; linear as the rules above. */
  readonly shape: RegExp;
}

/** No secret of these shapes is shorter, in characters. */
export const SHAPE_CHARS_MIN = 36;

const base64 = (before: number, mark: string, after: string): readonly [has: string, source: string] => [
  mark,
  `(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{${before}}${mark.replace('+', '\\+')}${after}(?![A-Za-z0-9+/=])`,
];
/** The shortest key of Azure, in characters. */
const AZURE_CHARS_MIN = 44;
/** Keys of Azure that its own scanners recognise: random characters, and the mark of the service at a fixed place. */
const AZURE_KEYS: readonly (readonly [has: string, source: string])[] = [
  ...['+ASt', 'ACDb', '+ABa', '+AMC'].map((mark) => base64(76, mark, '[A-Za-z0-9+/]{5}[AQgw]==')),
  ...['+ASb', '+AEh', '+ARm', 'AIoT', 'APIM', 'AzCa'].map((mark) => base64(33, mark, '[A-P][A-Za-z0-9+/]{5}=')),
  ...['AzSe', '+ACR'].map((mark) => base64(42, mark, '[A-D][A-Za-z0-9]{5}')),
  ['AzFu', '(?<![\\w-])[\\w-]{44}AzFu[\\w-]{5}[AQgw]={1,2}(?![\\w=])'],
  ['JQQJ9', '(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9][A-L][A-Za-z0-9]{24}(?:[A-Za-z0-9]{2}==)?(?![\\w=])'],
];
/** Addresses that are secrets: who knows one may post to it. */
const WEBHOOKS: readonly string[] = [
  'open\\.larksuite\\.com\\/open-apis\\/bot\\/v2\\/hook\\/[\\w-]{20,60}',
  'chat\\.googleapis\\.com\\/v1\\/spaces\\/[\\w-]{4,40}\\/messages\\?key=[\\w-]{20,80}(?:&token=[\\w%-]{20,120})?',
  'hooks\\.zapier\\.com\\/hooks\\/catch\\/\\d{4,12}\\/\\w{5,12}',
  'oapi\\.dingtalk\\.com\\/robot\\/send\\?access_token=[0-9a-f]{64}',
  'qyapi\\.weixin\\.qq\\.com\\/cgi-bin\\/webhook\\/send\\?key=[\\w-]{36}',
  'maker\\.ifttt\\.com\\/trigger\\/\\w{1,80}\\/with\\/key\\/[\\w-]{20,60}',
  'discord(?:app)?\\.com\\/api\\/v\\d{1,2}\\/webhooks\\/\\d{15,20}\\/[\\w-]{50,80}',
  'outlook\\.office(?:365)?\\.com\\/webhook\\/[\\w@-]{36,80}\\/IncomingWebhook\\/[\\w/-]{32,80}',
  'hooks\\.slack\\.com\\/triggers\\/[A-Za-z0-9+/]{20,90}',
];

/** Keys, tokens and addresses that only their whole form identifies. */
export const SHAPE_RULES: readonly ShapeRule[] = [
  {
    rule: 'azure-client-secret',
    kind: 'api_key',
    has: 'Q~',
    shape: /(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/g,
  },
  { rule: 'mailchimp-key', kind: 'api_key', has: '-us', shape: /(?<!\w)[0-9a-f]{32}-us\d{1,2}(?!\w)/g },
  { rule: 'telegram-token', kind: 'token', has: ':', shape: /(?<![A-Za-z0-9])\d{8,10}:[\w-]{35}(?![\w-])/g },
  {
    rule: 'discord-token',
    kind: 'token',
    has: '.',
    shape: /[MNO][A-Za-z\d_-]{23,25}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,38}(?![\w-])/g,
  },
  { rule: 'terraform-token', kind: 'token', has: '.atlasv1.', shape: /(?<!\w)[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}/g },
  {
    rule: 'webhook-address',
    kind: 'token',
    has: 'hook',
    shape:
      /open\.feishu\.cn\/open-apis\/bot\/v2\/hook\/[\w-]{20,60}|hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9+/]{20,90}|discord(?:app)?\.com\/api\/webhooks\/\d{15,20}\/[\w-]{50,80}|webhook\.office\.com\/webhookb2\/[\w@-]{36,80}\/IncomingWebhook\/[\w/-]{32,80}/g,
  },
  {
    rule: 'signed-address',
    kind: 'token',
    has: 'ig',
    shape:
      /(?<=[?&;]sig=)(?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){40,72}={0,2}|(?<=[?&;]X-(?:Amz|Goog)-Signature=)[0-9a-f]{64,512}/g,
  },
  { rule: 'telegram-address', kind: 'token', has: '/bot', shape: /(?<=\/bot)\d{8,10}:[\w-]{35}(?![\w-])/g },
  {
    rule: 'azure-devops-token',
    kind: 'token',
    has: 'AZDO',
    shape: /(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/g,
  },
  {
    rule: 'new-relic-license',
    kind: 'api_key',
    has: 'NR',
    shape:
      /(?<![A-Za-z0-9])(?:[0-9a-f]{32}FFFFNRAL|eu01xx[0-9a-f]{26}FFFFNRAL|(?:AA[0-9a-f]{40}|eu01xx[0-9a-f]{36})-NRMA|[0-9a-f]{36}NRAL)(?!\w)/g,
  },
  { rule: 'maxmind-key', kind: 'api_key', has: '_mmk', shape: /(?<!\w)[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)/g },
  {
    rule: 'deepl-key',
    kind: 'api_key',
    has: ':fx',
    shape: /(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:fx(?!\w)/g,
  },
  {
    rule: 'asana-token',
    kind: 'token',
    has: ':',
    shape: /(?<![\w/])[12]\/\d{10,18}(?:\/\d{10,18})?:[0-9a-f]{32}(?!\w)/g,
  },
  { rule: 'facebook-app-token', kind: 'token', has: '|', shape: /(?<!\w)\d{15,16}\|[\w-]{27,40}(?![\w-])/g },
  ...AZURE_KEYS.map(
    ([has, source]): ShapeRule => ({
      rule: 'azure-key',
      kind: 'api_key',
      has,
      shape: new RegExp(source, 'g'),
      charsMin: AZURE_CHARS_MIN,
    }),
  ),
  { rule: 'webhook-address', kind: 'token', has: '.com/', shape: new RegExp(WEBHOOKS.join('|'), 'g') },
];
