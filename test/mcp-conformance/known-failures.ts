import type { Revision } from './suite.fixture.ts';

/** Reasons by the names of scenarios. */
export type Reasons = Readonly<Record<string, string>>;
/** What the suite runs against: the reference server of either protocol through the layer, or functions of the program. */
export type Subject = 'reference' | 'older' | 'functions';

/** The suite counts this one for nobody: its own reference server cannot pass it. */
const PARAM_HEADERS = {
  'http-custom-header-server-validation': 'the gateway removes x-mcp-header, so that no client sends such headers',
};
const KEYS = 'questions of 2025-11-25 have no keys, by which the suite looks for them';

/** Scenarios that fail, with what is missing. One that is not here has to pass, and one that passes has to leave. */
export const KNOWN_FAILURES: Readonly<Record<Subject, Readonly<Record<Revision, Reasons>>>> = {
  reference: { '2025-11-25': {}, '2026-07-28': PARAM_HEADERS },
  older: {
    '2025-11-25': {},
    '2026-07-28': {
      ...PARAM_HEADERS,
      'input-required-result-basic-elicitation': KEYS,
      'input-required-result-ignore-extra-params': KEYS,
      'server-stateless': 'a server of 2025-11-25 may do without an answer, so a call is not refused for it',
      'tasks-lifecycle': 'the SDK makes a result of each error of a tool',
      'tasks-mrtr-composition': 'a call of this server is a task from its beginning, or never',
    },
  },
  functions: { '2025-11-25': {}, '2026-07-28': PARAM_HEADERS },
};

/** SHOULDs about notices of changed lists: the suite waits 1.5 s for each, which a busy machine may exceed. */
const NOTICES = [
  'sep-2575-server-sends-tools-list-changed-on-subscription',
  'sep-2575-server-sends-prompts-list-changed-on-subscription',
];
/** A server of 2025-11-25 asks in one message for each question: how many arrive before the round is answered is chance. */
const AT_ONCE = ['sep-2322-multiple-inputs-incomplete', 'sep-2322-multiple-inputs-complete'];

/** Checks that are not judged. */
export const NOT_JUDGED: Readonly<Record<Subject, ReadonlySet<string>>> = {
  reference: new Set(NOTICES),
  older: new Set([...NOTICES, ...AT_ONCE]),
  functions: new Set(NOTICES),
};
