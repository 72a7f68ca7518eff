import type { RedactionKind } from '../kinds.ts';

/** A secret with a form defined by its provider. */
export interface ProviderRule {
  readonly rule: string;
  readonly kind: RedactionKind;
  /** Possible prefixes. */
  readonly begins: readonly string[];
  /** Source of a regular expression for the rest. Repetitions are limited: time stays linear. */
  readonly rest: string;
}

const key = (rule: string, begins: string, rest: string): ProviderRule => ruleOf('api_key', rule, begins, rest);
const token = (rule: string, begins: string, rest: string): ProviderRule => ruleOf('token', rule, begins, rest);
const ruleOf = (kind: RedactionKind, rule: string, begins: string, rest: string): ProviderRule => ({
  rule,
  kind,
  begins: begins.split(' '),
  rest,
});

/** Keys and tokens with published prefixes. No entropy is required: nothing else looks like them. */
export const PROVIDER_RULES: readonly ProviderRule[] = [
  key(
    'aws-access-key-id',
    'ABIA ACCA AGPA AIDA AIPA AKIA ANPA ANVA AROA ASCA ASIA A3T',
    '[A-Z0-9]{16,17}(?![A-Za-z0-9])',
  ),
  key('google-api-key', 'AIza', '[\\w-]{35}(?![\\w-])'),
  key('google-client-secret', 'GOCSPX-', '[\\w-]{28}(?![\\w-])'),
  token('google-access-token', 'ya29.', '[\\w-]{20,1024}'),
  token('google-refresh-token', '1//0', '[\\w-]{40,256}'),
  token('github-token', 'gho_ ghp_ ghr_ ghs_ ghu_', '[A-Za-z0-9]{36,255}(?![A-Za-z0-9])'),
  token('github-fine-grained-token', 'github_pat_', '[A-Za-z0-9_]{22,255}'),
  token('gitlab-token', 'glpat- gldt- glft- glsoat- glrt- glrtr- glffct-', '[\\w-]{20,50}(?![\\w-])'),
  token(
    'gitlab-routable-token',
    'glpat- gldt- glrt- glffct-',
    '(?:t\\d_)?[\\w-]{27,300}\\.[0-9a-z]{2}\\.?[0-9a-z]{7,9}(?!\\w)',
  ),
  token('gitlab-runner-registration-token', 'GR1348941', '[\\w-]{20,50}(?!\\w)'),
  token('gitlab-job-token', 'glcbt-', '(?:[0-9a-fA-F]{1,5}_)?[\\w-]{20,50}(?!\\w)'),
  token('gitlab-mail-token', 'glimt-', '[\\w-]{25}(?!\\w)'),
  token('gitlab-trigger-token', 'glptt-', '[\\w-]{40}(?![\\w-])'),
  token('gitlab-agent-token', 'glagent-', '[\\w-]{50,1024}(?!\\w)'),
  key('gitlab-application-secret', 'gloas-', '[\\w-]{64}(?!\\w)'),
  token('slack-token', 'xox XOX', '[a-eA-Eo-sO-S](?:\\.xox[bp])?-(?:\\d{1,16}-){1,4}[A-Za-z0-9-]{6,200}'),
  token('slack-app-token', 'xapp-', '\\d-[A-Z0-9]{6,24}-\\d{6,24}-[a-z0-9]{20,128}'),
  key('stripe-key', 'sk_live_ sk_test_ rk_live_ rk_test_', '[A-Za-z0-9]{16,247}(?![A-Za-z0-9])'),
  key('webhook-signing-secret', 'whsec_', '[A-Za-z0-9+/]{24,88}={0,2}'),
  key('openai-key', 'sk-', '(?:[A-Za-z0-9]{2,12}-)?[\\w-]{20,120}T3BlbkFJ[\\w-]{20,120}'),
  key('anthropic-key', 'sk-ant-', '[a-z]{3,8}\\d{2}-[\\w-]{24,200}'),
  key('openrouter-key', 'sk-or-v1-', '[0-9a-f]{64}'),
  key('hex-secret-key', 'sk-', '[0-9a-f]{32,64}(?![\\w-])'),
  key('groq-key', 'gsk_', '[A-Za-z0-9]{48,56}'),
  key('xai-key', 'xai-', '[A-Za-z0-9]{70,90}'),
  key('perplexity-key', 'pplx-', '[A-Za-z0-9]{40,56}'),
  token('hugging-face-token', 'hf_ api_org_', '[A-Za-z]{34}(?![A-Za-z0-9])'),
  token('replicate-token', 'r8_', '[A-Za-z0-9]{37}(?![A-Za-z0-9])'),
  token('npm-token', 'npm_', '[A-Za-z0-9]{36}(?![A-Za-z0-9])'),
  token('pypi-token', 'pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw', '[\\w-]{70,1024}'),
  key('rubygems-key', 'rubygems_', '[0-9a-f]{48}'),
  token('docker-token', 'dckr_pat_ dckr_oat_', '[\\w-]{27,64}'),
  key('sendgrid-key', 'SG.', '[\\w-]{22}\\.[\\w-]{43}(?![\\w-])'),
  key('mailgun-key', 'key-', '[0-9a-f]{32}(?![0-9A-Za-z])'),
  key('twilio-key', 'AC SK', '[0-9a-z]{32}(?![0-9A-Za-z])'),
  key('square-secret', 'sq0atp- sq0csp- sq0idp-', '[\\w-]{22,60}'),
  key('shopify-token', 'shpat_ shpca_ shppa_ shpss_', '[0-9a-fA-F]{32}'),
  key('artifactory-key', 'AKC', '[A-Za-z0-9]{10,80}(?![\\w-])'),
  // Capital letters alone may be a heading: `APACHELICENSE`.
  key('artifactory-key', 'AP', '(?![A-Z]+(?![A-Za-z0-9]))[0-9A-F][A-Za-z0-9]{10,80}(?![\\w-])'),
  token('digitalocean-token', 'doo_v1_ dop_v1_ dor_v1_', '[0-9a-f]{64}'),
  token('databricks-token', 'dapi', '[0-9a-f]{32}(?:-\\d)?(?![0-9A-Za-z])'),
  token('vault-token', 'hvs. hvb. hvr.', '[\\w-]{24,300}'),
  token('doppler-token', 'dp.pt. dp.st. dp.ct. dp.scim. dp.audit.', '[\\w.-]{40,80}'),
  token('grafana-token', 'glc_', '[A-Za-z0-9+/]{32,400}={0,2}'),
  token('grafana-service-token', 'glsa_', '[A-Za-z0-9]{32}_[0-9a-f]{8}'),
  key('new-relic-key', 'NRAK- NRII-', '[\\w-]{27,32}(?![\\w-])'),
  key('postman-key', 'PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}'),
  key('linear-key', 'lin_api_ lin_oauth_', '[A-Za-z0-9]{40,64}'),
  key('notion-key', 'ntn_ secret_', '[A-Za-z0-9]{43,46}(?![A-Za-z0-9])'),
  token('figma-token', 'figd_ figo_ figu_ figr_', '[\\w-]{40,64}'),
  token('atlassian-token', 'ATATT3', '[\\w=-]{100,256}'),
  token('airtable-token', 'pat', '[A-Za-z0-9]{14}\\.[0-9a-f]{64}'),
  token('planetscale-token', 'pscale_tkn_ pscale_pw_ pscale_oauth_', '[\\w.-]{32,64}'),
  token('supabase-token', 'sbp_ sb_secret_', '[\\w-]{20,64}'),
  token('pulumi-token', 'pul-', '[0-9a-f]{40}'),
  token('sentry-token', 'sntrys_ sntryu_', '[A-Za-z0-9+/=_-]{40,400}'),
  token('one-password-token', 'ops_eyJ', '[\\w-]{100,1200}'),
  key('age-secret-key', 'AGE-SECRET-KEY-1', '[0-9A-Z]{58}'),
];

/** A secret recognised by its whole form. */
export interface ShapeRule {
  readonly rule: string;
  readonly kind: RedactionKind;
  /** Text that every match contains: otherwise the pattern is skipped. */
  readonly has: string;
  /** Matches whole secrets; linear as the rules above. */
  readonly shape: RegExp;
}

/** No secret of these shapes is shorter, in characters. */
export const SHAPE_CHARS_MIN = 36;

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
      /hooks\.slack\.com\/(?:services|workflows)\/[A-Za-z0-9+/]{20,90}|discord(?:app)?\.com\/api\/webhooks\/\d{15,20}\/[\w-]{50,80}|webhook\.office\.com\/webhookb2\/[\w@-]{36,80}\/IncomingWebhook\/[\w/-]{32,80}/g,
  },
  { rule: 'telegram-address', kind: 'token', has: '/bot', shape: /(?<=\/bot)\d{8,10}:[\w-]{35}(?![\w-])/g },
];
