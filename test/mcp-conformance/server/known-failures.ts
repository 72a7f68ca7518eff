import type { Revision } from './run-suite.fixture.ts';

const QUESTIONS = 'the reference server asks its clients nothing';
const TASKS = 'the reference server has no tasks';

/**
 * Scenarios that fail behind the layer, with what is missing. Questions, log messages and tasks pass the suite with another
 * layer as server (`through-upstream.test.ts`, `tasks/`). A scenario that is not here has to pass.
 */
export const KNOWN_FAILURES: Readonly<Record<Revision, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'tools-call-with-logging': 'the reference server sends no log messages',
    'tools-call-sampling': QUESTIONS,
    'tools-call-elicitation': QUESTIONS,
    'elicitation-sep1034-defaults': QUESTIONS,
    'elicitation-sep1330-enums': QUESTIONS,
  },
  '2026-07-28': {
    'server-stateless': 'the reference server has none of the tools by which the suite looks',
    'input-required-result-basic-elicitation': QUESTIONS,
    'input-required-result-basic-sampling': QUESTIONS,
    'input-required-result-basic-list-roots': QUESTIONS,
    'input-required-result-request-state': QUESTIONS,
    'input-required-result-multiple-input-requests': QUESTIONS,
    'input-required-result-multi-round': QUESTIONS,
    'input-required-result-missing-input-response': QUESTIONS,
    'input-required-result-non-tool-request': QUESTIONS,
    'input-required-result-result-type': QUESTIONS,
    'input-required-result-tampered-state': QUESTIONS,
    'input-required-result-capability-check': QUESTIONS,
    'input-required-result-ignore-extra-params': QUESTIONS,
    'tasks-lifecycle': TASKS,
    'tasks-capability-negotiation': TASKS,
    'tasks-wire-fields': TASKS,
    'tasks-request-state-removal': TASKS,
    'tasks-mrtr-input': TASKS,
    'tasks-request-headers': TASKS,
    'tasks-dispatch-and-envelope': TASKS,
    'tasks-required-task-error': TASKS,
    'tasks-mrtr-composition': TASKS,
    'http-custom-header-server-validation': 'the gateway removes x-mcp-header, so that no client sends such headers',
  },
};
