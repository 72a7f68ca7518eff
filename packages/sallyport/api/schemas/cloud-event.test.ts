import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { CloudEvent as SdkEvent } from 'cloudevents';
import { describe, expect, test } from 'vitest';
import { strictAjv } from '../../../../test/strict-ajv.ts';
import { CloudEvent } from './cloud-event.ts';

/** The schema of the CloudEvents specification, if the test corpora are next to the project. */
const SPECIFICATION = new URL('../../../../../shared/corpora/cloudevents/cloudevents.schema.json', import.meta.url);

const EVENT: CloudEvent = {
  specversion: '1.0',
  id: '018f3c1e-0001-7000-8000-000000000001',
  source: '/sallyport/instances/a',
  type: 'ai.agent.tool.succeeded',
  time: '2026-11-21T10:00:00.000Z',
  subject: '018f3c1e-0000-7000-8000-000000000000',
  datacontenttype: 'application/json',
  tenantid: 'acme',
  chainid: 'a',
  chainseq: 1,
  chainprev: '0'.repeat(64),
  chainhash: 'f'.repeat(64),
  data: { invocation_id: '018f3c1e-0000-7000-8000-000000000000', state: 'COMPLETED' },
};

const accepts = strictAjv().compile(structuredClone(CloudEvent));
const { subject: _, ...WITHOUT_SUBJECT } = EVENT;

describe('AUD-01 the event envelope', () => {
  test('takes an event, with a subject or without', () => {
    expect(accepts(EVENT)).toBe(true);
    expect(accepts(WITHOUT_SUBJECT)).toBe(true);
  });

  test.each([
    ['of another version', { ...EVENT, specversion: '0.3' }],
    ['with an empty id', { ...EVENT, id: '' }],
    ['of an unknown type', { ...EVENT, type: 'ai.agent.tool.guessed' }],
    ['with a time that is none', { ...EVENT, time: 'yesterday' }],
    ['without a tenant', { ...EVENT, tenantid: undefined }],
    ['before the start of its chain', { ...EVENT, chainseq: 0 }],
    ['with an attribute of its own', { ...EVENT, extra: 1 }],
    ['with data that is no object', { ...EVENT, data: 'text' }],
  ])('refuses an event %s', (_case, event) => {
    expect(accepts(JSON.parse(JSON.stringify(event)))).toBe(false);
  });

  test('has attribute names that CloudEvents 1.0 allows', () => {
    for (const name of Object.keys(CloudEvent.properties)) expect(name).toMatch(/^[a-z0-9]{1,20}$/);
  });

  test('is accepted by the CloudEvents SDK, in strict mode, without a change', () => {
    const event = new SdkEvent(EVENT, true);
    expect(event.toJSON()).toEqual(EVENT);
  });

  test.skipIf(!existsSync(SPECIFICATION))('matches the schema of the specification', () => {
    const ajv = new Ajv({ strict: false, formats: fullFormats });
    const matches = ajv.compile(JSON.parse(readFileSync(SPECIFICATION, 'utf8')));
    expect([matches(EVENT), matches(WITHOUT_SUBJECT), matches.errors]).toEqual([true, true, null]);
    expect(matches({ ...EVENT, id: '' })).toBe(false);
  });
});
