import { createSanitiser } from '@sallyport/guards';
import { isFailure } from '@sallyport/std/error/failure';
import { expect, test } from 'vitest';
import { manifest, pipeline } from '../../pipeline/pipeline.fixture.ts';
import { invokeTool } from './invoke-tool.ts';

const MARKUP = '<script>alert(1)</script>';

test('VAL-04 arguments that were made harmless and then refused keep the warning, on record and in the answer', async () => {
  const made = await pipeline({ values: { argumentSanitiser: createSanitiser({}) } });
  const text = { type: 'string', maxLength: MARKUP.length };
  await made.add(
    manifest('page', {
      parameters_schema: { type: 'object', properties: { text, count: { type: 'integer' } } },
      execution_config: { argument_content: { '/text': 'page' } },
    }),
    () => 'ran',
  );
  const request = {
    tool_id: 'page',
    parameters: { text: MARKUP, count: '2' },
    capability_token: await made.token(),
  };
  const principal = { tenantId: 'acme', agentDid: 'did:agent:a', roles: [] };
  const answer = await invokeTool.run({ runCall: made.run })(request, { caller: { door: 'library' }, principal });
  if (isFailure(answer)) throw new Error('the operation gave no answer');
  const warnings = [{ code: 'arguments_sanitised', details: { findings: [{ threat: 'xss', path: '/text' }] } }];
  expect(answer).toMatchObject({ error: { e_code: 'E3504' }, warnings });
  expect(await made.store.findInvocation('acme', answer.invocation_id)).toMatchObject({ state: 'FAILED', warnings });
});
